import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import type { Browser } from 'playwright-core'
import { launchChromium as launch } from '../../../tools/bench/console/chromium.ts'
import { chromium } from '../programs/external-programs.ts'

/** Launches the same Chromium as the benchmark. */
export const launchChromium = (): Promise<Browser> => launch(chromium())

const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }

/** Serves the files of one folder. */
export async function serveFolder(folder: string) {
  const server = createServer(async (request, response) => {
    const name = /^\/([\w-]+\.\w+)$/.exec(request.url ?? '')?.[1]
    try {
      const body = await readFile(join(folder, name ?? ''))
      response.writeHead(200, { 'Content-Type': types[extname(name ?? '')] ?? 'text/plain' }).end(body)
    } catch {
      response.writeHead(404).end()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}
