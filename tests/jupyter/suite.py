"""jupyter_kernel_test against the installed kernel, with every sample filled and every operation named."""

import os
import unittest

import jupyter_kernel_test as jkt

KERNEL = os.environ.get("KAFKALAB_TEST_KERNEL", "kafkalab")


class KernelTests(jkt.KernelTests):
    kernel_name = KERNEL
    language_name = "go"
    file_extension = ".go"
    code_hello_world = 'fmt.Println("hello, world")'
    code_stderr = 'fmt.Fprintln(os.Stderr, "a complaint")'
    completion_samples = [
        {"text": "strings.TrimSp", "matches": {"TrimSpace"}},
        {"text": "kafkasim.Wid", "matches": {"Widget"}},
        {"text": 'kafkasim.Config{"min.insync.r', "matches": {"min.insync.replicas"}},
        {"text": 'name := "ada"\nstrings.ToUpp', "matches": {"ToUpper", "ToUpperSpecial"}},
    ]
    complete_code_samples = ["1 + 1", 'fmt.Println("x")', "for i := 0; i < 3; i++ {\n\tfmt.Println(i)\n}", "func f() int { return 1 }"]
    incomplete_code_samples = ["for {", "func f() int {", "x := []int{1,", "fmt.Println("]
    invalid_code_samples = ["x := )", "1 +* 2 }", "func 3() {}"]
    code_page_something = 'lab.Page("a page of text")'
    code_generate_error = 'panic("on purpose")'
    code_execute_result = [
        {"code": "6 * 7", "result": "42"},
        {"code": 'strings.Repeat("ab", 2)', "result": "abab"},
        {"code": "x := 1\nx + 1", "result": "2"},
    ]
    code_display_data = [
        {"code": "lab.Display(charts.Cluster(kafkasim.Widget()))", "mime": "image/png"},
        {"code": "lab.Display(charts.Cluster(kafkasim.Widget()))", "mime": "application/vnd.kafkalab.chart+json"},
        {"code": 'lab.Display("text")', "mime": "text/plain"},
    ]
    supported_history_operations = ("tail", "range", "search")
    code_history_pattern = "6 *"
    code_inspect_sample = "strings.TrimSpace"
    code_clear_output = "lab.ClearOutput(false)"


class IopubWelcomeTests(jkt.IopubWelcomeTests):
    kernel_name = KERNEL
    support_iopub_welcome = True


if __name__ == "__main__":
    unittest.main(verbosity=2)
