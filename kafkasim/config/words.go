package config

import "strings"

func join(s []string) string { return strings.Join(s, ", ") }

// orList is "a, b or c".
func orList(s []string) string {
	if len(s) < 2 {
		return join(s)
	}
	return join(s[:len(s)-1]) + " or " + s[len(s)-1]
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// Nearest returns the candidate that a person who wrote name most likely meant, "" when none is near:
// at most a third of the letters may differ (never more than 4), or name may be the end or the middle of it.
func Nearest(name string, candidates []string) string { return nearest(name, candidates) }

func nearest(name string, candidates []string) string {
	limit := min(max(1, len(name)/3), 4)
	best, found := limit+1, ""
	for _, c := range candidates {
		if d := distance(canonical(name), canonical(c), best); d < best {
			best, found = d, c
		}
	}
	if found != "" || len(name) < 5 {
		return found
	}
	for _, c := range candidates {
		if strings.Contains(canonical(c), canonical(name)) {
			return c
		}
	}
	return ""
}

// canonical makes linger_ms, lingerMs and linger.ms the same.
func canonical(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r != '.' && r != '_' && r != '-' && r != ' ' {
			b.WriteRune(r)
		}
	}
	return strings.ToLower(b.String())
}

// distance is Levenshtein's with neighbours swapped at cost 1, or at least limit if it is that large.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
