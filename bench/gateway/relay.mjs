// A relay between a client and one server that checks, keeps and knows nothing. No gateway on Node.js can be faster.
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'

const [port, command, ...args] = process.argv.slice(2)
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
const waiting = new Map()
let ids = 0
createInterface({ input: child.stdout }).on('line', (line) => {
  const answer = JSON.parse(line)
  waiting.get(answer.id)?.(answer)
  waiting.delete(answer.id)
})

function pass(message, answer) {
  if (message.id === undefined) return child.stdin.write(`${JSON.stringify(message)}\n`)
  const id = ids++
  waiting.set(id, (answered) => answer({ ...answered, id: message.id }))
  return child.stdin.write(`${JSON.stringify({ ...message, id })}\n`)
}

function relayStdio() {
  createInterface({ input: process.stdin })
    .on('line', (line) => pass(JSON.parse(line), (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`)))
    .on('close', () => process.exit())
}

function relayHttp() {
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('data', (chunk) => (text += chunk))
    request.on('end', () => {
      const message = JSON.parse(text)
      pass(message, (answer) => {
        const body = JSON.stringify(answer)
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
        response.end(body)
      })
      if (message.id === undefined) response.writeHead(202).end()
    })
  })
  server.listen(Number(port), '127.0.0.1')
}

if (port === 'stdio') relayStdio()
else relayHttp()
