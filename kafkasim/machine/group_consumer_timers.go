package machine

import (
	"regexp"
	"slices"
)

// What happens by itself in a group with the consumer protocol: sessions end, revocations take too long, patterns are looked
// at anew.

// patternDelay is how long a pattern takes to be looked at, µs: another thread does it.
const patternDelay = 1_000

// patternLeast is how long a new topic waits at least, µs, before patterns are looked at again
// (GroupMetadataManager.REGEX_BATCH_REFRESH_MIN_INTERVAL_MS).
const patternLeast = 10_000_000

// watchConsumerGroup sets the timer for what the group waits for next.
func (s *State) watchConsumerGroup(b *Broker, x *CoordinatorShard, g *Group) {
	at := never
	for i := range g.Consumer.Members {
		m := &g.Consumer.Members[i]
		at = min(at, m.ExpiresAt)
		for _, by := range [...]int64{m.RevokeBy, m.Classic.JoinBy, m.Classic.SyncBy} {
			if by != 0 {
				at = min(at, by)
			}
		}
	}
	if g.Consumer.ResolveAt != 0 {
		at = min(at, g.Consumer.ResolveAt)
	}
	if at != never {
		s.wake(&g.WakeAt, at, b.ID, GroupTimer{TP: x.TP, Epoch: x.Epoch, Group: g.ID})
	}
}

// consumerGroupDue does what is due.
func (s *State) consumerGroupDue(b *Broker, x *CoordinatorShard, g *Group) {
	c := &g.Consumer
	before := c.clone()
	for i := len(c.Members) - 1; i >= 0; i-- {
		m := &c.Members[i]
		switch {
		case s.overdue(m) && s.downgrades(c, 0, m.ID):
			if s.becomeClassic(b, x, g, before, GroupStored{Group: g.ID}, true, m.ID) == NONE {
				return
			}
			m = &g.Consumer.Members[i]
			m.ExpiresAt = s.Now + 1_000_000 // it is tried again
		case s.overdue(m):
			s.fenceConsumer(b, c, m.ID)
		case m.ExpiresAt <= s.Now:
			m.ExpiresAt = s.Now + s.memberSession(m)
		}
	}
	if c.ResolveAt != 0 && c.ResolveAt <= s.Now {
		s.resolvePatterns(b, c)
	}
	if s.storeConsumerGroup(b, x, g, &before, GroupStored{Group: g.ID}) != NONE {
		g.Consumer = before
		for i := range g.Consumer.Members { // it is tried again
			m := &g.Consumer.Members[i]
			m.ExpiresAt = max(m.ExpiresAt, s.Now+1_000_000)
			for _, by := range [...]*int64{&m.RevokeBy, &m.Classic.JoinBy, &m.Classic.SyncBy} {
				if *by != 0 {
					*by = max(*by, s.Now+1_000_000)
				}
			}
		}
		if g.Consumer.ResolveAt != 0 {
			g.Consumer.ResolveAt = max(g.Consumer.ResolveAt, s.Now+1_000_000)
		}
	} else {
		s.consumerGroupMoved(b, g)
	}
	s.watchConsumerGroup(b, x, g)
}

// overdue tells whether a member's time is over: for its session, for giving partitions up, or as a classic one for joining
// again and for its SyncGroup.
func (s *State) overdue(m *ConsumerMember) bool {
	is := func(by int64) bool { return by != 0 && by <= s.Now }
	return m.ExpiresAt <= s.Now && !s.mutant(SessionsNeverEnd) || m.State == MemberUnrevoked && is(m.RevokeBy) || is(m.Classic.JoinBy) || is(m.Classic.SyncBy)
}

// askPatterns has the patterns of members looked at: new ones at once, the others when topics may have come or gone.
func (s *State) askPatterns(c *ConsumerGroup) {
	uses := func(p string) bool {
		return slices.ContainsFunc(c.Members, func(m ConsumerMember) bool { return m.Pattern == p })
	}
	c.Patterns = slices.DeleteFunc(slices.Clone(c.Patterns), func(p ResolvedPattern) bool { return !uses(p.Pattern) })
	at := int64(0)
	for i := range c.Members {
		p := c.Members[i].Pattern
		if p == "" {
			continue
		}
		due := s.Now + patternDelay
		if j := slices.IndexFunc(c.Patterns, func(r ResolvedPattern) bool { return r.Pattern == p }); j >= 0 {
			due = max(due, c.Patterns[j].At+min(patternLeast, s.World.Broker.ConsumerGroups.RegexRefreshMs*ms))
		}
		if at == 0 || due < at {
			at = due
		}
	}
	if c.ResolveAt == 0 || at < c.ResolveAt {
		c.ResolveAt = at
	}
}

// resolvePatterns finds the topics that patterns match, whole; if they are others than before, the group epoch goes up.
func (s *State) resolvePatterns(b *Broker, c *ConsumerGroup) {
	c.ResolveAt = 0
	had := c.subscribed()
	var patterns []string
	for i := range c.Members {
		if p := c.Members[i].Pattern; p != "" && !slices.Contains(patterns, p) {
			patterns = append(patterns, p)
		}
	}
	slices.Sort(patterns)
	c.Patterns = nil
	for _, p := range patterns {
		r := ResolvedPattern{Pattern: p, At: s.Now}
		re, err := regexp.Compile("^(?:" + p + ")$")
		for t := range b.Image.Topics {
			name := b.Image.Topics[t].Name
			if _, internal := b.coordinatorKind(int32(t)); err == nil && !internal && re.MatchString(name) && b.Image.topic(name) == int32(t) {
				r.Topics = append(r.Topics, name)
			}
		}
		slices.Sort(r.Topics)
		c.Patterns = append(c.Patterns, r)
	}
	if !slices.Equal(had, c.subscribed()) {
		c.Metadata = c.metadata(&b.Image)
		c.Epoch++
	}
}
