<?php

declare(strict_types=1);

const TOLERANCE_SECONDS = 5 * 60;

/**
 * Returns the event of a delivery. Throws if it was not signed with this secret within the last five minutes.
 *
 * @param string $body       the raw bytes of the request body: file_get_contents('php://input')
 * @param string $id         the header webhook-id: $_SERVER['HTTP_WEBHOOK_ID'] ?? ''
 * @param string $timestamp  the header webhook-timestamp: $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? ''
 * @param string $signatures the header webhook-signature: $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? ''
 * @param string $secret     the subscription's signing secret, starting with whsec_
 */
function verifyWebhook(string $body, string $id, string $timestamp, string $signatures, string $secret): mixed
{
    if ($id === '' || $timestamp === '' || $signatures === '') {
        throw new UnexpectedValueException('a webhook header is missing');
    }
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > TOLERANCE_SECONDS) {
        throw new UnexpectedValueException('the timestamp is not within five minutes of the current time');
    }
    $key = base64_decode(substr($secret, strlen('whsec_')), true);
    // Reject an empty key: anybody could sign with it.
    if (!str_starts_with($secret, 'whsec_') || $key === false || $key === '') {
        throw new InvalidArgumentException('a signing secret must start with whsec_');
    }
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    // During a rotation there are several signatures; one match is enough.
    foreach (explode(' ', $signatures) as $signature) {
        if (hash_equals($expected, $signature)) {
            return json_decode($body, true, 512, JSON_THROW_ON_ERROR);
        }
    }
    throw new UnexpectedValueException('no signature matches');
}
