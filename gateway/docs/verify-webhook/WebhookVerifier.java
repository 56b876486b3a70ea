import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public final class WebhookVerifier {
    private static final long TOLERANCE_SECONDS = 5 * 60;
    private static final String SECRET_PREFIX = "whsec_";

    private final SecretKeySpec key;

    /** @param secret the subscription's signing secret, starting with whsec_ */
    public WebhookVerifier(String secret) {
        // Reject an empty key as well: anybody could sign with it.
        if (secret == null || !secret.startsWith(SECRET_PREFIX) || secret.length() == SECRET_PREFIX.length()) {
            throw new IllegalArgumentException("a signing secret must start with whsec_");
        }
        byte[] bytes = Base64.getDecoder().decode(secret.substring(SECRET_PREFIX.length()));
        key = new SecretKeySpec(bytes, "HmacSHA256");
    }

    /**
     * Throws a SecurityException if the delivery was not signed with this secret within the last five minutes.
     *
     * @param body the raw bytes of the request body, before anything parses them
     * @param id the header webhook-id
     * @param timestamp the header webhook-timestamp
     * @param signatures the header webhook-signature
     */
    public void verify(byte[] body, String id, String timestamp, String signatures) {
        if (id == null || timestamp == null || signatures == null) {
            throw new SecurityException("a webhook header is missing");
        }
        if (!timestamp.matches("[0-9]{1,15}")) {
            throw new SecurityException("the timestamp is not a number");
        }
        long age = System.currentTimeMillis() / 1000 - Long.parseLong(timestamp);
        if (Math.abs(age) > TOLERANCE_SECONDS) {
            throw new SecurityException("the timestamp is not within five minutes of the current time");
        }
        byte[] expected = sign(id + "." + timestamp + ".", body);
        // During a rotation there are several signatures; one match is enough.
        for (String signature : signatures.split(" ")) {
            byte[] given = signature.getBytes(StandardCharsets.UTF_8);
            if (MessageDigest.isEqual(given, expected)) {
                return;
            }
        }
        throw new SecurityException("no signature matches");
    }

    private byte[] sign(String prefix, byte[] body) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(key);
            mac.update(prefix.getBytes(StandardCharsets.UTF_8));
            String encoded = Base64.getEncoder().encodeToString(mac.doFinal(body));
            return ("v1," + encoded).getBytes(StandardCharsets.UTF_8);
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
