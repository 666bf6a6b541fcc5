import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  Deserializer,
  serializeFault,
  serializeMethodCall,
  serializeMethodResponse,
  XmlRpcFault,
  type XmlRpcValue,
} from '@foxglove/xmlrpc'
import { z } from 'zod'

/** A robot description (URDF) is the largest value: some have several MiB. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024
const MAX_REQUEST_BYTES = 256 * 1024
const REQUEST_TIMEOUT_MS = 5_000
/** The master and the nodes that publish or subscribe. */
const MAX_CONNECTIONS = 256

/** What every method of ROS returns: a code, a text and a value. */
const Answer = z.tuple([z.number(), z.string(), z.unknown()])
const SUCCESS = 1

/**
 * Calls a method of the master or of a node.
 * @returns the value of the answer
 * @throws Error without an answer within `timeoutMs`, or when the method failed
 */
export async function callRos(
  url: string,
  method: string,
  params: readonly string[] | readonly (string | string[][])[],
  timeoutMs: number,
): Promise<unknown> {
  const text = await post(url, serializeMethodCall(method, [...params] as XmlRpcValue[]), timeoutMs)
  const [code, message, value] = Answer.parse(await new Deserializer().deserializeMethodResponse(text))
  if (code !== SUCCESS) throw new Error(`${method} failed: ${message}`)
  return value
}

/** Sends a request on a connection of its own: a kept one would be dead when its node starts again. */
function post(url: string, body: string, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error) => reject(new Error(`${url} does not answer (${cause.message})`, { cause }))
    const sent = request(url, {
      method: 'POST',
      agent: false,
      headers: { 'Content-Type': 'text/xml', 'Content-Length': Buffer.byteLength(body) },
      signal: AbortSignal.timeout(timeoutMs),
    })
    sent.on('error', fail)
    sent.on('response', (response) => readText(response, MAX_RESPONSE_BYTES).then(resolve, fail))
    sent.end(body)
  })
}

type Methods = Readonly<Record<string, (params: readonly unknown[]) => XmlRpcValue>>

/** Serves the methods that a node offers to the master and to other nodes. A method returns the value of its answer. */
export async function serveRos(host: string, methods: Methods) {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (call, response) => {
    answer(call, methods).then(
      (body) => response.writeHead(200, { 'Content-Type': 'text/xml' }).end(body),
      () => response.writeHead(400).end(),
    )
  })
  server.maxConnections = MAX_CONNECTIONS
  server.listen(0, host)
  await once(server, 'listening')
  server.on('error', () => {}) // of single connections
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function answer(call: IncomingMessage, methods: Methods): Promise<string> {
  const text = await readText(call, MAX_REQUEST_BYTES)
  const [name, params] = await new Deserializer().deserializeMethodCall(text)
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined
  if (!method) return serializeFault(new XmlRpcFault(`no method ${name}`, -32601))
  return serializeMethodResponse([SUCCESS, '', method(params)])
}

async function readText(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new Error(`more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
