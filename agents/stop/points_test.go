package stop_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop"
)

var _ = DescribeTable("at each injection point an answer may stop or must go on, with all that speaks for it", Label("G-01"),
	func(point stop.Point, name string) {
		refused := stop.Judge("The importer is written. Next steps: 1. Test it 2. Deploy it", stop.Options{Point: point})
		Expect(refused.MayStop).To(BeFalse())
		Expect(refused.Reason).NotTo(BeEmpty())
		Expect(refused.Detections).To(ContainElement(HaveField("Real", true)))
		Expect(stop.Texts(refused.Steps)).To(Equal([]string{"Test it", "Deploy it"}))
		Expect(refused.Judgement()).To(And(HaveField("Point", stop.Point(name)), HaveField("Allow", false)))

		allowed := stop.Judge("The importer is written and tested.", stop.Options{Point: point})
		Expect(allowed.MayStop).To(BeTrue())
		Expect(allowed.Reason).NotTo(BeEmpty())
		Expect(allowed.Steps).To(BeEmpty())
		Expect(allowed.Point).To(Equal(refused.Point))
	},
	Entry("before the final answer", stop.FinalAnswer, "final-answer"),
	Entry("when a todo is completed", stop.TodoCompleted, "todo-completed"),
	Entry("at the end of a task", stop.TaskEnd, "task-end"),
	Entry("after a checkpoint", stop.AfterCheckpoint, "after-checkpoint"),
	Entry("before a voluntary pause", stop.VoluntaryPause, "voluntary-pause"),
	Entry("where none is said, before the final answer", stop.Point(""), "final-answer"),
)
