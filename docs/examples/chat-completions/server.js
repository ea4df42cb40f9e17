// https://expressjs.com/en/starter/hello-world.html, with an endpoint like those of language models. Its words cost
// nothing: it says as many as `max_tokens`, without a model.
import express from 'express';

const app = express();
app.use(express.json());

app.post('/v1/chat/completions', (req, res) => {
  const { model, max_tokens: most } = req.body;
  const chunk = (delta, finish_reason = null) => {
    const choices = [{ index: 0, delta, finish_reason }];
    res.write(`data: ${JSON.stringify({ object: 'chat.completion.chunk', model, choices })}\n\n`);
  };
  res.type('text/event-stream');
  chunk({ role: 'assistant', content: '' });
  for (let word = 0; word < most; word++) chunk({ content: `word ${word} ` });
  chunk({}, 'length');
  res.end('data: [DONE]\n\n');
});

app.listen(process.env.PORT || 8080);
