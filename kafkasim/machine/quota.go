package machine

import (
	"fmt"
	"slices"
)

// Quotas: who has one, in the metadata log.
//
// A quota belongs to an entity: a user, a client id, both together, or the default of either. A broker's are its
// rates of replication. Brokers go by them when they have heard of them.
//
// Kafka: ClientQuotaControlManager, ClientQuotasImage, ClientQuotaManager.DefaultQuotaCallback; for brokers
// ConfigurationControlManager (dynamic broker properties). KIP-13, KIP-55, KIP-73, KIP-546. Simplified: nobody logs
// in, so every client is the user ANONYMOUS.

// AnonymousUser is whom a client is without authentication, and QuotaDefault stands for all that have no quota of
// their own (kafka-configs.sh --entity-default).
const (
	AnonymousUser = "ANONYMOUS"
	QuotaDefault  = "<default>"
)

// QuotaEntity is whom a quota is for. User and ClientID are "" where they do not matter. Broker is NoNode for clients.
type QuotaEntity struct {
	User, ClientID string
	Broker         NodeID
}

// String is the entity as kafka-configs.sh shows it.
func (e QuotaEntity) String() string {
	if e.Broker != NoNode {
		return fmt.Sprintf("broker %d", e.Broker)
	}
	word := func(kind, name string) string {
		if name == QuotaDefault {
			return "the default " + kind
		}
		return kind + " '" + name + "'"
	}
	switch {
	case e.ClientID == "":
		return word("user-principal", e.User)
	case e.User == "":
		return word("client-id", e.ClientID)
	}
	return word("user-principal", e.User) + ", " + word("client-id", e.ClientID)
}

// Quota is what an entity may, in bytes/s; 0 is no limit.
type Quota struct {
	Entity             QuotaEntity
	Producer, Consumer int64 // producer_byte_rate and consumer_byte_rate, for each broker
	Leader, Follower   int64 // leader.replication.throttled.rate and follower.replication.throttled.rate
	Work               WorkQuota
}

// WorkQuota limits what requests cost, in thousandths, because the State has no fractions; 0 is no limit.
type WorkQuota struct {
	Requests  int64 // request_percentage of one thread, for each broker (KIP-124)
	Mutations int64 // controller_mutation_rate, partitions/s (KIP-599)
}

// none tells whether nothing is limited.
func (q *Quota) none() bool { return *q == Quota{Entity: q.Entity} }

// AlterQuota replaces an entity's quota.
type AlterQuota struct{ Quota Quota }

func (AlterQuota) command() {}
func (AlterQuota) payload() {}

// alterQuota is AlterClientQuotas, or IncrementalAlterConfigs of a broker.
func (s *State) alterQuota(c *Controller, q Quota) Code {
	if c.Image.Quota(q.Entity) != q {
		s.commit(c, []MetadataRecord{{Kind: QuotaRecord, Quota: q}})
	}
	return NONE
}

// Quota is an entity's own; one without limits when it has none.
func (im *Image) Quota(e QuotaEntity) Quota {
	for _, q := range im.Quotas {
		if q.Entity == e {
			return q
		}
	}
	return Quota{Entity: e}
}

// setQuota takes over a record. The list is in the order in which entities first got a quota.
func (im *Image) setQuota(q Quota) {
	list := slices.Clone(im.Quotas)
	i := slices.IndexFunc(list, func(x Quota) bool { return x.Entity == q.Entity })
	switch {
	case i < 0 && !q.none():
		list = append(list, q)
	case i >= 0 && q.none():
		list = slices.Delete(list, i, i+1)
	case i >= 0:
		list[i] = q
	}
	im.Quotas = list
}

// clientQuota finds the most specific quota of a kind (kind picks its rate) for a client, and the entity whose traffic
// counts together for it: the user with the client id, the user alone or the client id alone. The order is that of
// DefaultQuotaCallback.
func (im *Image) clientQuota(clientID string, kind func(*Quota) int64) (rate int64, who QuotaEntity) {
	const u, any = AnonymousUser, QuotaDefault
	for _, e := range [...]QuotaEntity{
		{User: u, ClientID: clientID}, {User: u, ClientID: any}, {User: u},
		{User: any, ClientID: clientID}, {User: any, ClientID: any}, {User: any},
		{ClientID: clientID}, {ClientID: any},
	} {
		q := im.Quota(e)
		rate := kind(&q)
		if rate == 0 {
			continue
		}
		if e.User != "" {
			who.User = u
		}
		if e.ClientID != "" {
			who.ClientID = clientID
		}
		return rate, who
	}
	return 0, who
}
