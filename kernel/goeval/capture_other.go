//go:build !unix

package goeval

import "os"

// takeDescriptors replaces the files of package os: prints of the run time itself are not seen here.
func takeDescriptors(out, err *os.File) (restore func(), failed error) {
	o, e := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = out, err
	return func() { os.Stdout, os.Stderr = o, e }, nil
}
