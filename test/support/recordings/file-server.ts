import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Serves files with ranges at another origin, as object stores do. */
export async function startFileServer() {
  const files = new Map<string, Buffer>()
  const requests: { path: string; bytes: number }[] = []
  const server = createServer((request, response) => {
    response.setHeader('Access-Control-Allow-Origin', '*')
    response.setHeader('Access-Control-Allow-Headers', 'Range')
    if (request.method === 'OPTIONS') return void response.writeHead(204).end()
    const file = files.get(request.url ?? '')
    if (!file) return void response.writeHead(404).end()
    requests.push({ path: request.url ?? '', bytes: sendRange(request, response, file) })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    requests,
    /** Serves a file. Returns its address. */
    add(path: string, file: Buffer): string {
      files.set(path, file)
      return origin + path
    },
    remove: (path: string) => files.delete(path),
    /** Serves a file no longer. Returns a function that serves it again. */
    hide(path: string): () => void {
      const file = files.get(path)
      if (!file) throw new Error(`no file ${path}`)
      files.delete(path)
      return () => void files.set(path, file)
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}
export type FileServer = Awaited<ReturnType<typeof startFileServer>>

function sendRange({ headers }: IncomingMessage, response: ServerResponse, file: Buffer): number {
  const [, from = '0', to = ''] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? []
  const [start, end] = [Number(from), to === '' ? file.length - 1 : Math.min(Number(to), file.length - 1)]
  const status = headers.range === undefined ? 200 : 206
  response.writeHead(status, {
    'Content-Type': 'application/octet-stream',
    'Content-Length': end - start + 1,
    'Content-Range': `bytes ${start}-${end}/${file.length}`,
    'Accept-Ranges': 'bytes',
  })
  response.end(file.subarray(start, end + 1))
  return end - start + 1
}
