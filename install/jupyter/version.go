package jupyter

import (
	"fmt"
	"regexp"
	"strconv"
)

// Version is the release part of a Python package's version: 4.6.3rc1 is 4.6.3.
type Version [3]int

// MinLab is the oldest JupyterLab whose prebuilt extensions draw our charts.
var MinLab = Version{4, 2, 0}

var versionPattern = regexp.MustCompile(`(\d+)\.(\d+)(?:\.(\d+))?`)

// ParseVersion finds the first version number in what a program printed about itself.
func ParseVersion(text string) (Version, bool) {
	m := versionPattern.FindStringSubmatch(text)
	if m == nil {
		return Version{}, false
	}
	var v Version
	for i := range v {
		v[i], _ = strconv.Atoi(m[i+1]) // a missing third part counts as 0
	}
	return v, true
}

// Less orders versions.
func (v Version) Less(w Version) bool {
	for i := range v {
		if v[i] != w[i] {
			return v[i] < w[i]
		}
	}
	return false
}

// String writes the version with its three parts.
func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }
