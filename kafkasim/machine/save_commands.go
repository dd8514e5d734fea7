package machine

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// Commands as text: JSON with the command's type beside its fields.

// commandKinds lists one value of every type of command.
var commandKinds = []Command{
	CreateTopic{}, AddPartitions{}, AlterTopic{}, DeleteTopic{}, DeleteRecords{}, Reassign{}, ElectLeaders{}, UnregisterBroker{}, AlterQuota{},
	CrashBroker{}, PowerLoss{}, StopBroker{}, StartBroker{}, PauseBroker{}, ResumeBroker{}, SlowBroker{}, LoseDisk{}, LoseReplica{},
	CrashController{}, StartController{}, PauseController{}, ResumeController{},
	CutLink{}, CutOneWay{}, HealLink{}, SetLatency{}, DeliverMessage{}, DropMessage{}, DelayMessage{}, HoldMessages{}, ReleaseMessages{},
	NewProducer{}, Send{}, SendEvery{}, FlushProducer{}, CloseProducer{}, CrashProducer{}, AbortTransaction{}, InitTransactions{}, SendOffsets{}, BeginTransaction{}, EndTransaction{}, TxnWork{},
	NewConsumer{}, Assign{}, StartPoll{}, Seek{}, PauseConsumer{}, ResumeConsumer{}, CloseConsumer{}, CrashConsumer{},
	Subscribe{}, Commit{}, Work{}, AdministerGroup{},
	NewShareConsumer{}, ShareSubscribe{}, StartSharePoll{}, ShareAcknowledge{}, ShareCommit{}, CloseShareConsumer{}, CrashShareConsumer{}, ShareWork{}, AlterShareGroup{},
}

// SavedCommand is a command with its type's name.
type SavedCommand struct {
	Kind   string
	Fields json.RawMessage
}

// SaveCommand writes a command.
func SaveCommand(c Command) (SavedCommand, error) {
	data, err := json.Marshal(c)
	return SavedCommand{reflect.TypeOf(c).Name(), data}, err
}

// Load reads what SaveCommand wrote.
func (x *SavedCommand) Load() (Command, error) {
	for _, k := range commandKinds {
		if t := reflect.TypeOf(k); t.Name() == x.Kind {
			c := reflect.New(t)
			err := json.Unmarshal(x.Fields, c.Interface())
			return c.Elem().Interface().(Command), err
		}
	}
	return nil, fmt.Errorf("a command of the kind %q, which this version does not know", x.Kind)
}
