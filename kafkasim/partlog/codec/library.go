package codec

import (
	"bytes"
	"compress/gzip"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// gzip and zstd come from libraries. Making their tables takes longer than most batches, so they are kept.

var gzips sync.Map // of *sync.Pool by level

func appendGzip(dst, src []byte, level int8) []byte {
	n := gzip.DefaultCompression
	if level != DefaultLevel {
		n = int(level)
	}
	pool, _ := gzips.LoadOrStore(n, &sync.Pool{New: func() any {
		w, err := gzip.NewWriterLevel(nil, n)
		if err != nil {
			panic("codec: gzip has no level " + err.Error())
		}
		return w
	}})
	w := pool.(*sync.Pool).Get().(*gzip.Writer)
	defer pool.(*sync.Pool).Put(w)
	out := bytes.NewBuffer(dst)
	w.Reset(out)
	_, err := w.Write(src)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic("codec: " + err.Error()) // a buffer takes everything
	}
	return out.Bytes()
}

var zstds sync.Map // of *zstd.Encoder by level

func appendZstd(dst, src []byte, level int8) []byte {
	n := zstdDefault
	if level != DefaultLevel {
		n = int(level)
	}
	known, ok := zstds.Load(n)
	if !ok {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(n)), zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true))
		if err != nil {
			panic("codec: " + err.Error())
		}
		known, _ = zstds.LoadOrStore(n, e)
	}
	return known.(*zstd.Encoder).EncodeAll(src, dst)
}
