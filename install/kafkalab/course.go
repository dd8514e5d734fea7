package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"kafkalab/install/author"
	"kafkalab/install/kernelspec"
	"kafkalab/install/notebook"
	"kafkalab/kafkasim/lesson/master"
)

// mastersDir is the folder of the authors' files, beside the notebooks.
const mastersDir = "masters"

// newCourse is what authors of lessons use.
func newCourse() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "course",
		Short: "Make and check the course's lessons, for their authors",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCourseBuild(), newCourseCheck())
	return cmd
}

func newCourseBuild() *cobra.Command {
	return &cobra.Command{
		Use:   "build [FOLDER]",
		Short: "Make the learner's notebooks from the masters (default: the folder notebooks)",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, lessons, err := readCourse(args)
			if err != nil {
				return err
			}
			for _, l := range lessons {
				at := filepath.Join(dir, l.File+".ipynb")
				if err := author.Learner(l).Write(at); err != nil {
					return err
				}
				fmt.Fprintln(cmd.OutOrStdout(), at)
			}
			sheet, _, _, err := author.BuildCheatSheet(dir)
			if err != nil {
				return err
			}
			if err := sheet.Write(filepath.Join(dir, "cheat-sheet.ipynb")); err != nil {
				return err
			}
			return buildMap(dir, lessons)
		},
	}
}

// buildMap makes the tables of the course's README.md.
func buildMap(dir string, lessons []*master.Lesson) error {
	c, err := master.ReadCurriculum(os.DirFS(filepath.Join(dir, mastersDir)))
	if err != nil {
		return err
	}
	at := filepath.Join(dir, "README.md")
	text, err := os.ReadFile(at)
	if err != nil {
		return err
	}
	made, err := author.Readme(string(text), lessons, c)
	if err != nil {
		return err
	}
	return kernelspec.WriteFile(at, []byte(made), 0o644)
}

func newCourseCheck() *cobra.Command {
	var thorough bool
	var solved, only string
	cmd := &cobra.Command{
		Use:   "check [FOLDER]",
		Short: "Run every lesson as a learner gets it and solved, and say what is wrong with it",
		Long: `Check every lesson: that its solutions pass and its starters do not, that a run decides each prediction, that its
links lead somewhere, and that its text and its time are what a learner can take. With --thorough each
prediction is also tried with its run taken out, which must not be correct.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, lessons, err := readCourse(args)
			if err != nil {
				return err
			}
			bad := 0
			c := checker(dir)
			for _, l := range lessons {
				if only != "" && l.Number != only {
					continue
				}
				n, err := checkLesson(cmd.Context(), c, l, thorough, solved, cmd.OutOrStdout())
				if err != nil {
					return err
				}
				bad += n
			}
			if bad > 0 {
				return fmt.Errorf("%d problems", bad)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&thorough, "thorough", false, "also take each prediction's run out")
	cmd.Flags().StringVar(&solved, "solved", "", "write the solved notebooks, with outputs, into this folder")
	cmd.Flags().StringVar(&only, "only", "", "check the lesson with this number only")
	return cmd
}

// readCourse reads the masters of a folder.
func readCourse(args []string) (dir string, lessons []*master.Lesson, err error) {
	dir = "notebooks"
	if len(args) > 0 {
		dir = args[0]
	}
	lessons, err = master.All(os.DirFS(filepath.Join(dir, mastersDir)))
	if err == nil && len(lessons) == 0 {
		err = fmt.Errorf("%s has no lessons: want Markdown files there", filepath.Join(dir, mastersDir))
	}
	return dir, lessons, err
}

// cellLimit is how long a lesson's cell may run.
const cellLimit = 2 * time.Minute

// checker checks lessons of a folder with the kernel of this program.
func checker(dir string) *author.Checker {
	f := executeFlags{timeout: cellLimit}
	return &author.Checker{
		Files: os.DirFS(dir),
		Run: func(ctx context.Context, nb *notebook.Notebook) error {
			return f.execute(ctx, nb, "lesson.ipynb", nothing{}, nothing{})
		},
	}
}

// checkLesson checks one lesson, says how it went, and counts its problems.
func checkLesson(ctx context.Context, c *author.Checker, l *master.Lesson, thorough bool, solved string, out io.Writer) (int, error) {
	r, err := c.Check(ctx, l)
	if err != nil {
		return 0, err
	}
	if thorough {
		more, err := c.Undecided(ctx, l, r.Answers)
		if err != nil {
			return 0, err
		}
		r.Problems = append(r.Problems, more...)
	}
	fmt.Fprintf(out, "%s: %d problems, %.1f s\n", l.File, len(r.Problems), r.Took.Seconds())
	for _, p := range r.Problems {
		fmt.Fprintln(out, "  "+p.String())
	}
	if solved == "" {
		return len(r.Problems), nil
	}
	if err := os.MkdirAll(solved, 0o755); err != nil {
		return 0, err
	}
	return len(r.Problems), r.Solved.Write(filepath.Join(solved, l.File+".ipynb"))
}

// exportSite writes every notebook of a folder as a page, and an index. A notebook that has a master is shown
// solved.
func exportSite(ctx context.Context, f *executeFlags, dir, output string, noRun bool, say io.Writer) error {
	names, err := fs.Glob(os.DirFS(dir), "*.ipynb")
	if err != nil || len(names) == 0 {
		return fmt.Errorf("%s holds no notebooks", dir)
	}
	if err := os.MkdirAll(output, 0o755); err != nil {
		return fmt.Errorf("the site cannot be written: %w", err)
	}
	lessons := map[string]*master.Lesson{}
	if _, all, err := readCourse([]string{dir}); err == nil {
		for _, l := range all {
			lessons[l.File+".ipynb"] = l
		}
	}
	var pages []author.Page
	var failed error
	for _, name := range names {
		page := author.Page{File: name[:len(name)-len(".ipynb")] + ".html", Title: name}
		nb, err := sitePage(ctx, f, dir, name, lessons[name], noRun)
		failed = errors.Join(failed, err)
		if nb == nil {
			continue
		}
		page.Title = notebook.Heading(nb)
		if l := lessons[name]; l != nil {
			page.Title, page.About = l.Title, l.About
			if author.IsLesson(l) {
				page.Title = l.Number + " " + l.Title
			}
		}
		author.LinkPages(nb, names)
		if err := writePage(nb, filepath.Join(dir, name), filepath.Join(output, page.File), notebook.ExportOptions{}); err != nil {
			return err
		}
		fmt.Fprintf(say, "Written to %s\n", filepath.Join(output, page.File))
		pages = append(pages, page)
	}
	index, err := author.Index("Kafka Lab", "Each page is a worked lesson that steps in your browser; none needs a server or a network.", pages)
	if err != nil {
		return err
	}
	return errors.Join(failed, kernelspec.WriteFile(filepath.Join(output, "index.html"), index, 0o644))
}

// sitePage is one notebook of a site, run.
func sitePage(ctx context.Context, f *executeFlags, dir, name string, l *master.Lesson, noRun bool) (*notebook.Notebook, error) {
	if l != nil && !noRun {
		r, err := checker(dir).Check(ctx, l)
		if err == nil && len(r.Problems) > 0 {
			err = fmt.Errorf("%s", r.Problems[0])
		}
		return r.Solved, err
	}
	path := filepath.Join(dir, name)
	nb, err := notebook.Read(path)
	if err != nil || noRun {
		return nb, err
	}
	return nb, f.execute(ctx, nb, path, nothing{}, nothing{})
}
