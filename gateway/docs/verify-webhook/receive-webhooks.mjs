import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET);

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    // The text exactly as it came: parsed and serialized again, it would not match its signature.
    const event = webhook.verify(Buffer.concat(chunks).toString(), request.headers);
    console.log(`verified ${event.type} ${event.id}`);
    response.writeHead(204).end();
  } catch (error) {
    console.error(`refused: ${error.message}`);
    response.writeHead(400).end();
  }
});
server.listen(process.env.PORT ?? 3000, () => console.log(`listening on ${server.address().port}`));
