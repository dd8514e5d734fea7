package machine

// Calls that end or begin transactions and that nobody waits for: as if another thread of the application had made
// them. Each has a number at its producer, from 0, and its end is remembered.

// TxnCalls are a producer's calls that nobody waits for.
type TxnCalls struct {
	Returned []TxnReturn // by number; never written again
	Pending  bool        // one more has not returned: the number behind them
}

// TxnReturn is how a call has ended.
type TxnReturn struct {
	Call         TxnCall
	CalledAt, At int64 // µs
	Failed       Code  // what it threw; NONE for nothing
	State        TxnClientState
}

// mayBeAsync is the result of a call. One that nobody waits for gets a number, unless it was refused.
func (s *State) mayBeAsync(p *Producer, async bool, refused Code) Result {
	if !async || refused != NONE {
		return Result{ID: -1, Error: refused}
	}
	n := int32(len(p.App.Returned))
	if p.App.Pending = true; !p.Txn.Waits() {
		s.callReturns(p)
	}
	return Result{ID: n}
}

// Has tells whether there was a call with this number.
func (c *TxnCalls) Has(n int32) bool {
	return int(n) < len(c.Returned) || int(n) == len(c.Returned) && c.Pending
}

// returns remembers the end of a call.
func (c *TxnCalls) returns(r TxnReturn) {
	c.Returned, c.Pending = append(c.Returned, r), false
}

// overdueCall ends a call that has waited for max.block.ms: it has thrown TimeoutException, and what it began goes on.
func (s *State) overdueCall(p *Producer) {
	if t := &p.Txn; p.App.Pending && s.Now-t.CalledAt >= p.Config.MaxBlockMs*ms {
		p.App.returns(TxnReturn{t.Call, t.CalledAt, t.CalledAt + p.Config.MaxBlockMs*ms, TIMEOUT_EXCEPTION, t.State})
	}
}

// callReturns notes that the present call has come to its end.
func (s *State) callReturns(p *Producer) {
	s.overdueCall(p)
	t := &p.Txn
	if t.ReturnedAt = s.Now; p.App.Pending {
		p.App.returns(TxnReturn{t.Call, t.CalledAt, s.Now, t.Failed, t.State})
	}
}

// TxnCall is what became of a producer's n-th call that nobody waited for; false while it has not returned.
func (s *State) TxnCall(producer, n int32) (TxnReturn, bool) {
	p := &s.Producers[producer]
	if int(n) < len(p.App.Returned) {
		return p.App.Returned[n], true
	}
	t := &p.Txn
	if until := t.CalledAt + p.Config.MaxBlockMs*ms; s.Now >= until {
		return TxnReturn{t.Call, t.CalledAt, until, TIMEOUT_EXCEPTION, t.State}, true
	}
	return TxnReturn{Call: t.Call, CalledAt: t.CalledAt, State: t.State}, false
}
