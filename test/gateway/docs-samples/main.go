package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"strings"

	"driver/webhook"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		header := http.Header{}
		for index, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
			if value := fields[index+1]; value != "" {
				header.Set(name, value)
			}
		}
		body, err := base64.StdEncoding.DecodeString(fields[4])
		if err != nil {
			panic(err)
		}
		if webhook.Verify(body, header, fields[0]) == nil {
			fmt.Println("verified")
		} else {
			fmt.Println("refused")
		}
	}
}
