package msgpack

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
)

// same returns values in both forms: testdata/values.json, which the codec of `pushbench verify` reads, too.
func same(t testing.TB) (values []struct{ JSON, Packed, Back string }) {
	t.Helper()
	text, err := os.ReadFile("testdata/values.json")
	if err == nil {
		err = json.Unmarshal(text, &values)
	}
	if err != nil || len(values) == 0 {
		t.Fatal("no values", err)
	}
	return values
}

func TestValuesAreTheSameInBothForms(t *testing.T) {
	for _, each := range same(t) {
		want, err := hex.DecodeString(each.Packed)
		if err != nil {
			t.Fatal(err)
		}
		if each.JSON != "" {
			if got, ok := Append([]byte("x"), []byte(each.JSON)); !ok || !bytes.Equal(got[1:], want) {
				t.Errorf("%x of %s, expected %x", got[1:], each.JSON, want)
			}
		}
		back := each.Back
		if back == "" {
			back = each.JSON
		}
		if got, ok := AppendJSON([]byte("x"), want); !ok || string(got[1:]) != back {
			t.Errorf("%s of %x, expected %s", got[1:], want, back)
		}
	}
}

func TestLongValuesComeBack(t *testing.T) {
	for _, n := range []int{15, 16, 31, 32, 255, 256, 65_535, 65_536} {
		for _, text := range []string{
			`"` + strings.Repeat("é", n) + `"`,
			"[" + strings.TrimSuffix(strings.Repeat(`"a",`, n), ",") + "]",
		} {
			packed, ok := Append(nil, []byte(text))
			if back, fine := AppendJSON(nil, packed); !ok || !fine || string(back) != text {
				t.Errorf("%d: %.20s came back as %.20s", n, text, back)
			}
		}
	}
}

func TestWhatIsNoValueIsRefused(t *testing.T) {
	for _, packed := range []string{
		"", "c1", "a1", "a1ff", "91", "8101", "81c001", "81900101", "0101", "cb00", "ca00", "c403", "d5", "c70200",
		"dfffffffff", "ddffffffff", "dbffffffff", strings.Repeat("91", 200) + "01",
	} {
		data, err := hex.DecodeString(packed)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := AppendJSON([]byte("x"), data); ok || string(got) != "x" {
			t.Errorf("%s of %.20s, expected nothing", got, packed)
		}
	}
	for _, text := range []string{"", "{", "nul", `"`, `{"a":1,}`, strings.Repeat("[", 200) + strings.Repeat("]", 200)} {
		if got, ok := Append([]byte("x"), []byte(text)); ok || string(got) != "x" {
			t.Errorf("%x of %.20s, expected nothing", got, text)
		}
	}
}

func FuzzBack(f *testing.F) {
	for _, each := range same(f) {
		packed, _ := hex.DecodeString(each.Packed)
		f.Add(packed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text, ok := AppendJSON(nil, data)
		if !ok {
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%q is no JSON", text)
		}
		packed, ok := Append(nil, text)
		if !ok {
			t.Fatalf("%q cannot be packed", text)
		}
		again, ok := AppendJSON(nil, packed)
		var one, other any
		if !ok || json.Unmarshal(text, &one) != nil || json.Unmarshal(again, &other) != nil ||
			!reflect.DeepEqual(one, other) {
			t.Fatalf("%q came back as %q", text, again)
		}
	})
}

func BenchmarkAppendJSON(b *testing.B) {
	text := `{"type":"draw","boardId":"b-17","userId":"u-42","seq":42000000007,"sentAt":1764086400000000,` +
		`"stroke":[[412,300],[413,301],[415,303],[418,306],[422,310]]}`
	packed, ok := Append(nil, []byte(text))
	if !ok {
		b.Fatal(text)
	}
	b.ReportAllocs()
	var out []byte
	for b.Loop() {
		if out, ok = AppendJSON(out[:0], packed); !ok {
			b.Fatal(out)
		}
	}
}
