package goeval

import "kafkalab/kernel"

func (e *Engine) Complete(code string, cursor int) kernel.Completion {
	return kernel.Completion{Start: cursor, End: cursor}
}
func (e *Engine) Inspect(code string, cursor, detail int) (kernel.Bundle, bool) {
	return kernel.Bundle{}, false
}
func (e *Engine) IsComplete(code string) kernel.Completeness {
	return kernel.Completeness{Status: "unknown"}
}
