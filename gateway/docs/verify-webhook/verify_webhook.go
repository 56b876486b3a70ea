package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const tolerance = 5 * time.Minute

// Verify returns nil if a delivery was signed with this secret within the last five minutes.
//
// body is the raw request body, before anything parses it; secret is the subscription's signing secret, starting with
// whsec_.
func Verify(body []byte, header http.Header, secret string) error {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	signatures := header.Get("webhook-signature")
	if id == "" || timestamp == "" || signatures == "" {
		return errors.New("a webhook header is missing")
	}
	seconds, err := strconv.ParseUint(timestamp, 10, 63)
	if err != nil {
		return errors.New("the timestamp is not a number")
	}
	if age := time.Since(time.Unix(int64(seconds), 0)); age.Abs() > tolerance {
		return errors.New("the timestamp is not within five minutes of the current time")
	}
	encoded, isSecret := strings.CutPrefix(secret, "whsec_")
	key, err := base64.StdEncoding.DecodeString(encoded)
	// Reject an empty key: anybody could sign with it.
	if err != nil || !isSecret || len(key) == 0 {
		return errors.New("a signing secret must start with whsec_")
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	expected := mac.Sum(nil)
	// During a rotation there are several signatures; one match is enough.
	for _, signature := range strings.Split(signatures, " ") {
		version, encoded, _ := strings.Cut(signature, ",")
		given, err := base64.StdEncoding.DecodeString(encoded)
		if version == "v1" && err == nil && hmac.Equal(given, expected) {
			return nil
		}
	}
	return errors.New("no signature matches")
}
