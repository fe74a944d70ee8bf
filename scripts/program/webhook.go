package program

import (
	"context"
	"io"
	"net/http"

	"touchstone/relay/source/sourcetest"
)

// Post delivers one signed webhook to the relay at an address such as http://127.0.0.1:8080, and returns the answer.
func Post(ctx context.Context, client *http.Client, address, secret, event, delivery string, body []byte) (status int, answer []byte,
	err error) {
	request, err := sourcetest.Request(ctx, address, secret, event, delivery, body)
	if err != nil {
		return 0, nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}
