package kernel

import "kafkalab/kernel/wire"

// kernelInfo answers kernel_info_request, on shell and on control.
func (k *Kernel) kernelInfo(*request) any {
	info := k.lang.Info()
	links := info.HelpLinks
	if links == nil {
		links = []HelpLink{}
	}
	return map[string]any{
		"status":                 "ok",
		"protocol_version":       wire.ProtocolVersion,
		"implementation":         k.opts.Implementation,
		"implementation_version": k.opts.ImplementationVersion,
		"language_info": map[string]any{
			"name":               info.Name,
			"version":            info.Version,
			"mimetype":           info.MIMEType,
			"file_extension":     info.FileExtension,
			"pygments_lexer":     info.PygmentsLexer,
			"codemirror_mode":    info.CodeMirrorMode,
			"nbconvert_exporter": info.NBConvertExporter,
		},
		"banner":             info.Banner,
		"help_links":         links,
		"debugger":           false,
		"supported_features": []string{"kernel subshells"}, // and no "debugger" (JEP 91, 92)
	}
}

// connect answers connect_request with the ports that the transport told.
func (k *Kernel) connect(*request) any {
	content := map[string]any{"status": "ok"}
	if ports := k.ports.Load(); ports != nil {
		for name, port := range *ports {
			content[name] = port
		}
	}
	return content
}
