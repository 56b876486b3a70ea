import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Base64;

public final class Driver {
    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] fields = line.split("\t", -1);
            byte[] body = Base64.getDecoder().decode(fields[4]);
            try {
                new WebhookVerifier(fields[0]).verify(body, header(fields[1]), header(fields[2]), header(fields[3]));
                System.out.println("verified");
            } catch (SecurityException | IllegalArgumentException refusal) {
                System.out.println("refused");
            }
        }
    }

    private static String header(String field) {
        return field.isEmpty() ? null : field;
    }
}
