package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// positions writes the positions of one client of the suite location, and reads the news about others.
// docs/protocols.md describes both.
type positions struct {
	id    Identity
	epoch int64 // microseconds
	told  []told
	taken int // how many of told were handed out
}

// told is a position in the news.
type told struct {
	sender int
	seq    uint32
	sentAt int64 // microseconds
}

func newPositions(id Identity) positions {
	return positions{id: id, epoch: id.Epoch.UnixMicro()}
}

// Each client's positions lie in a field of a tenth of a degree; the numbers of the client and the message determine
// them. Whole microdegrees that end in 1 have one shortest form, whatever software writes them.
const (
	latitudeDegree, longitudeDegree = 52, 13
	latitudePrefix, longitudePrefix = "52.", "13."
)

func latitudeOf(client int, seq uint32) int64 {
	return (int64(client)*7919+int64(seq)*31)%90_000*10 + 1
}
func longitudeOf(client int, seq uint32) int64 {
	return (int64(client)*104_729+int64(seq)*17)%90_000*10 + 1
}

// user appends the client's id.
func (p *positions) user(buf []byte) []byte {
	return strconv.AppendInt(append(buf, "u-"...), int64(p.id.Client), 10)
}

// fields appends the fields of a position, without braces.
func (p *positions) fields(buf []byte, seq uint32, due time.Duration) []byte {
	buf = micro(append(buf, `"lat":`+latitudePrefix...), latitudeOf(p.id.Client, seq))
	buf = micro(append(buf, `,"lon":`+longitudePrefix...), longitudeOf(p.id.Client, seq))
	buf = strconv.AppendUint(append(buf, `,"seq":`...), uint64(seq), 10)
	return strconv.AppendInt(append(buf, `,"sentAt":`...), p.epoch+due.Microseconds(), 10)
}

// micro appends six digits.
func micro(buf []byte, n int64) []byte {
	for unit := int64(100_000); unit > 0; unit /= 10 {
		buf = append(buf, byte('0'+n/unit%10))
	}
	return buf
}

// position appends the body of a client's PUT.
func (p *positions) position(buf []byte, seq uint32, due time.Duration) []byte {
	return append(p.fields(append(buf, '{'), seq, due), '}')
}

// next hands out a position of the last news as a delivery, and reports whether there was one.
func (p *positions) next(event *Event) bool {
	for p.taken < len(p.told) {
		found := p.told[p.taken]
		p.taken++
		if found.sender == p.id.Client {
			continue // over STOMP the sender gets its own position, which is not owed
		}
		event.Kind, event.Sender, event.Seq = Delivery, found.sender, found.seq
		event.SentAt = time.Duration(found.sentAt-p.epoch) * time.Microsecond
		return true
	}
	return false
}

// forget drops the rest of the last news.
func (p *positions) forget() { p.told, p.taken = p.told[:0], 0 }

// errNews is the error of news that could not be read. Its text describes what was wrong.
var errNews = errors.New("no news")

// read parses news, whose positions next then hands out. It returns the version, even with an error if that concerns a
// single position.
func (p *positions) read(text []byte) (version int64, err error) {
	s := scan{rest: text, ok: true}
	p.forget()
	s.skip(`{"version":`)
	version = s.number()
	s.skip(`,"positions":[`)
	for s.ok && !bytes.Equal(s.rest, []byte("]}")) {
		if len(p.told) > 0 {
			s.skip(",")
		}
		p.told = append(p.told, s.position())
	}
	if s.ok {
		return version, nil
	}
	return p.readAny(text)
}

// readAny reads news in any form of JSON.
func (p *positions) readAny(text []byte) (int64, error) {
	var news struct {
		Version   *int64
		Positions *[]struct {
			User        string
			Lat, Lon    float64
			Seq, SentAt int64
		}
	}
	p.forget()
	if err := json.Unmarshal(text, &news); err != nil || news.Version == nil || news.Positions == nil {
		return 0, fmt.Errorf("%w: %.60q", errNews, text)
	}
	var wrong error
	for _, each := range *news.Positions {
		sender, err := strconv.ParseInt(strings.TrimPrefix(each.User, "u-"), 10, 32)
		seq := uint32(each.Seq)
		switch {
		case err != nil:
			wrong = fmt.Errorf("%w: a position of %.40q", errNews, each.User)
		case each.Lat != float64(latitudeDegree*1e6+latitudeOf(int(sender), seq))/1e6,
			each.Lon != float64(longitudeDegree*1e6+longitudeOf(int(sender), seq))/1e6:
			wrong = fmt.Errorf("%w: position %d of %.40q at %g, %g", errNews, each.Seq, each.User, each.Lat, each.Lon)
		default:
			p.told = append(p.told, told{int(sender), seq, each.SentAt})
		}
	}
	return *news.Version, wrong
}

// scan reads JSON in the form that most servers write. ok becomes false at the first deviation from it.
type scan struct {
	rest []byte
	ok   bool
}

func (s *scan) skip(text string) {
	if s.ok = s.ok && len(s.rest) >= len(text) && string(s.rest[:len(text)]) == text; s.ok {
		s.rest = s.rest[len(text):]
	}
}

func (s *scan) number() int64 {
	n, rest, ok := number(s.rest)
	s.rest, s.ok = rest, s.ok && ok
	return n
}

// micro reads six digits.
func (s *scan) micro() int64 {
	before := len(s.rest)
	n := s.number()
	s.ok = s.ok && before-len(s.rest) == 6
	return n
}

// position reads the position that a client put, and the client's id.
func (s *scan) position() told {
	s.skip(`{"user":"u-`)
	sender := int(s.number())
	s.skip(`","lat":` + latitudePrefix)
	latitude := s.micro()
	s.skip(`,"lon":` + longitudePrefix)
	longitude := s.micro()
	s.skip(`,"seq":`)
	seq := uint32(s.number())
	s.skip(`,"sentAt":`)
	sentAt := s.number()
	s.skip("}")
	s.ok = s.ok && latitude == latitudeOf(sender, seq) && longitude == longitudeOf(sender, seq)
	return told{sender, seq, sentAt}
}
