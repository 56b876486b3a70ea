<?php

declare(strict_types=1);

require __DIR__ . '/verify_webhook.php';

while (($line = fgets(STDIN)) !== false) {
    [$secret, $id, $timestamp, $signatures, $body] = explode("\t", rtrim($line, "\n"));
    try {
        verifyWebhook(base64_decode($body), $id, $timestamp, $signatures, $secret);
        echo "verified\n";
    } catch (UnexpectedValueException | InvalidArgumentException) {
        echo "refused\n";
    }
}
