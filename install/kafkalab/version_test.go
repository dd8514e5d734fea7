package main

import (
	"runtime/debug"
	"testing"
)

func TestTheVersionIsWhatTheBinaryWasBuiltFrom(t *testing.T) {
	commit := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}}
	for want, info := range map[string]*debug.BuildInfo{
		"1.2.3":                              {Main: debug.Module{Version: "v1.2.3"}},
		release + " (from source)":           {Main: debug.Module{Version: "(devel)"}},
		release + " (0123456789ab)":          {Main: debug.Module{Version: "v0.0.0-20260101000000-0123456789ab"}, Settings: commit},
		release + " (0123456789ab, changed)": {Settings: append(commit, debug.BuildSetting{Key: "vcs.modified", Value: "true"})},
	} {
		if got := versionOf(info); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
