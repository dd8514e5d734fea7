package main

import (
	"path/filepath"

	"kafkalab/charts/assets"
	"kafkalab/install/kernelspec"
)

func installExtension(data kernelspec.Dir) (string, error) {
	return extensionFolder(data), assets.WriteLabExtension(data.LabExtensions())
}

// removeExtension removes the extension and names its folder if it was there.
func removeExtension(data kernelspec.Dir) ([]string, error) {
	there, _, err := assets.LabExtensionState(data.LabExtensions())
	if err != nil || !there {
		return nil, err
	}
	return []string{extensionFolder(data)}, assets.RemoveLabExtension(data.LabExtensions())
}

func extensionFolder(data kernelspec.Dir) string {
	return filepath.Join(data.LabExtensions(), assets.LabExtensionName)
}
