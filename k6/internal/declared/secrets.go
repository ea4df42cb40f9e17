package declared

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
)

// secrets are the values by name.
type secrets map[string]string

// read returns the secrets. An error names the variable, never its content.
func read(named map[string]Secret) (secrets, error) {
	found := secrets{}
	for name, from := range named {
		value, err := from.read()
		if err != nil {
			return nil, fmt.Errorf("secret %s: %w", name, err)
		}
		found[name] = value
	}
	return found, nil
}

func (s Secret) read() (string, error) {
	variable := s.Env + s.FileEnv
	value := os.Getenv(variable)
	if value == "" {
		return "", fmt.Errorf("the variable %s is not set", variable)
	}
	if s.FileEnv == "" {
		return value, nil
	}
	content, err := os.ReadFile(value)
	if err != nil {
		return "", fmt.Errorf("the file that %s names cannot be read", variable)
	}
	if value = strings.TrimSpace(string(content)); value == "" {
		return "", fmt.Errorf("the file that %s names is empty", variable)
	}
	return value, nil
}

// redact replaces secrets in a text that may be displayed.
func (s secrets) redact(text string) string {
	for name, value := range s {
		marshalled, _ := json.Marshal(value) // with < and & escaped, as many servers do
		for _, form := range []string{
			value, escaped(value), string(marshalled[1 : len(marshalled)-1]), url.QueryEscape(value),
		} {
			text = strings.ReplaceAll(text, form, "{secret:"+name+"}")
		}
	}
	return text
}

// escaped returns a text as the inside of a JSON string, with as few escapes as possible.
func escaped(text string) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(text) != nil {
		return text // every string has a form in JSON
	}
	return out.String()[1 : out.Len()-len("\"\n")]
}
