package assign

import "slices"

// racksMatter says whether racks are worth looking at: some member's rack holds a replica of some partition,
// and not every partition is in all of those racks anyway.
//
// Kafka: AbstractPartitionAssignor.useRackAwareAssignment, KIP-881.
func racksMatter(memberRacks []string, partitionRacks [][]string) bool {
	all := map[string]bool{}
	for _, racks := range partitionRacks {
		for _, r := range racks {
			all[r] = true
		}
	}
	if !slices.ContainsFunc(memberRacks, func(r string) bool { return all[r] }) {
		return false
	}
	for _, racks := range partitionRacks {
		here := map[string]bool{}
		for _, r := range racks {
			here[r] = true
		}
		if len(here) != len(all) {
			return true
		}
	}
	return false
}

// racksOf returns the racks of a partition's replicas, without the brokers that have none.
func (t *Topic) racksOf(n int) []string {
	if n >= len(t.Racks) {
		return nil
	}
	if !slices.Contains(t.Racks[n], "") {
		return t.Racks[n]
	}
	return slices.DeleteFunc(slices.Clone(t.Racks[n]), func(r string) bool { return r == "" })
}
