package wire_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	openai "github.com/sashabaranov/go-openai"

	"github.com/rehearse-dev/rehearse/mocks/wire"
)

func seven(_, _ string) int { return 7 }

// embed answers a request and reads the answer with another implementation.
func embed(body string) openai.EmbeddingResponse {
	GinkgoHelper()
	frames := codec.Embed([]byte(body), seven)
	Expect(frames[0].Status).To(Equal(200))
	var r openai.EmbeddingResponse
	Expect(json.Unmarshal(frames[0].Data, &r)).To(Succeed())
	return r
}

var _ = Describe("embeddings", Label("H-02"), func() {
	It("gives the same frames for the same input, in any version of this module", func() {
		const body = `{"model":"m","input":["Grüße","b"],"dimensions":4,"encoding_format":"float"}`
		count := func(_, text string) int { return len(text)/7 + 1 }
		expectGolden("embeddings", render(codec.Embed([]byte(body), count)))
		expectGolden("embeddings-base64", render(codec.Embed([]byte(strings.Replace(body, "float", "base64", 1)), count)))
	})

	It("gives vectors of length 1 that differ from input to input", func() {
		r := embed(`{"model":"m","input":["a","b","a",[1,2],[1,3]]}`)
		Expect(r.Data).To(HaveLen(5))
		for i, d := range r.Data {
			sum := 0.0
			for _, x := range d.Embedding {
				sum += float64(x) * float64(x)
			}
			Expect(sum).To(BeNumerically("~", 1, 1e-5))
			Expect(d.Index).To(Equal(i))
		}
		Expect(r.Data[0].Embedding).To(Equal(r.Data[2].Embedding))
		Expect(r.Data[0].Embedding).NotTo(Equal(r.Data[1].Embedding))
		Expect(r.Data[3].Embedding).NotTo(Equal(r.Data[4].Embedding))
		Expect(r.Usage).To(Equal(openai.Usage{PromptTokens: 35, TotalTokens: 35}))
	})

	It("gives the same numbers in base64", func() {
		const body = `{"model":"m","input":"a","dimensions":5,"encoding_format":"base64"}`
		var r struct{ Data []struct{ Embedding string } }
		Expect(json.Unmarshal(codec.Embed([]byte(body), nil)[0].Data, &r)).To(Succeed())
		raw, err := base64.StdEncoding.DecodeString(r.Data[0].Embedding)
		Expect(err).NotTo(HaveOccurred())
		var got []float32
		for len(raw) > 0 {
			got = append(got, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
			raw = raw[4:]
		}
		Expect(got).To(Equal(embed(strings.Replace(body, "base64", "float", 1)).Data[0].Embedding))
	})

	DescribeTable("has as many dimensions as",
		func(body string, dimensions int) {
			Expect(embed(body).Data[0].Embedding).To(HaveLen(dimensions))
		},
		Entry("the small model", `{"model":"text-embedding-3-small","input":"a"}`, 1536),
		Entry("the large model", `{"model":"text-embedding-3-large","input":[1,2]}`, 3072),
		Entry("Mistral's model", `{"model":"mistral-embed","input":"a"}`, 1024),
		Entry("the request", `{"model":"text-embedding-3-large","input":"a","dimensions":1}`, 1),
	)

	DescribeTable("refuses as the provider does",
		func(body, param string) {
			answer := codec.Embed([]byte(body), nil)[0]
			Expect(answer.Status).To(Equal(400))
			e := wire.ReadError(answer.Status, answer.Header, answer.Data)
			Expect(e.Type).To(Equal("invalid_request_error"))
			Expect(e.Param).To(Equal(param))
		},
		Entry("no JSON", `{`, ""),
		Entry("no model", `{"input":"a"}`, "model"),
		Entry("no input", `{"model":"m"}`, "input"),
		Entry("an empty text", `{"model":"m","input":""}`, "input"),
		Entry("an empty text in a list", `{"model":"m","input":["a",""]}`, "input"),
		Entry("an empty list", `{"model":"m","input":[]}`, "input"),
		Entry("null", `{"model":"m","input":null}`, "input"),
		Entry("texts and tokens mixed", `{"model":"m","input":[1,"a"]}`, "input"),
		Entry("an object", `{"model":"m","input":{}}`, "input"),
		Entry("too many inputs", `{"model":"m","input":["a"`+strings.Repeat(`,"a"`, 2048)+`]}`, "input"),
		Entry("no dimensions", `{"model":"m","input":"a","dimensions":0}`, "dimensions"),
		Entry("too many dimensions", `{"model":"m","input":"a","dimensions":3073}`, "dimensions"),
		Entry("dimensions as text", `{"model":"m","input":"a","dimensions":"9"}`, "dimensions"),
		Entry("an unknown format", `{"model":"m","input":"a","encoding_format":"hex"}`, "encoding_format"),
	)
})
