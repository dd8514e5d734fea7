package browser

import (
	"os"
	"path/filepath"
	"testing"

	"kafkalab/install/kernelspec"
	"kafkalab/kafkasim/lesson/master"
)

// Four lessons as a learner goes through them.
func TestALearnerInJupyterLab(t *testing.T) {
	all, err := master.All(os.DirFS("../../notebooks/masters"))
	if err != nil {
		t.Fatal(err)
	}
	s := startLab(t, func(s *server) {
		s.kernel(t)
		for _, l := range all {
			data, err := os.ReadFile(filepath.Join("../../notebooks", l.File+".ipynb"))
			if err != nil {
				t.Fatal(err)
			}
			if err := kernelspec.WriteFile(filepath.Join(s.Root, l.File+".ipynb"), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	})
	for _, l := range all {
		if l.Number != "01" && l.Number != "05" && l.Number != "09" && l.Number != "13" {
			continue
		}
		t.Run(l.File, func(t *testing.T) {
			predict, wrong := firstMistake(l)
			task := firstTask(l)
			script(t, "lab-learner", s.config(map[string]any{
				"name": l.File + ".ipynb", "lesson": l.Number, "predict": predict, "wrong": wrong, "task": task.ID, "solution": task.Task.Solution,
			}))
		})
	}
}

// firstMistake is the first prediction with choices, and an answer that its author does not expect.
func firstMistake(l *master.Lesson) (id, wrong string) {
	for _, b := range l.Blocks {
		if b.Kind != master.Predict || b.Question.Number {
			continue
		}
		for _, c := range b.Question.Choices {
			if !b.Question.Holds(c.Is, b.Question.Expect) {
				return b.ID, c.Is
			}
		}
	}
	return "", ""
}

func firstTask(l *master.Lesson) *master.Block {
	for i := range l.Blocks {
		if l.Blocks[i].Kind == master.Task {
			return &l.Blocks[i]
		}
	}
	return nil
}
