//go:build !unix

package goeval

// take reads the next bytes and hands them to deliver.
func (p *pipe) take(buf []byte, deliver func([]byte)) error {
	n, err := p.r.Read(buf)
	deliver(buf[:n])
	return err
}

// empty cannot be known here.
func (p *pipe) empty() bool { return false }
