import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import type { Browser } from 'playwright-core'
import { chromium, wholeChromium } from '../programs/external-programs.ts'
import { launchChromium as launch } from './launch-chromium.ts'

let running: Promise<Browser> | undefined

/**
 * Returns the Chromium of this process, the same as the benchmark's. Test files share it and separate their pages by
 * browser contexts; it ends with the process.
 */
export function sharedChromium(): Promise<Browser> {
  running ??= start()
  return running
}

/** Starts a Chromium that shows notifications. The caller closes it. */
export const chromiumWithNotifications = (): Promise<Browser> => launch(wholeChromium(), ['--headless=new'])

async function start(): Promise<Browser> {
  const browser = await launch(await chromium())
  browser.once('disconnected', () => {
    running = undefined
  })
  return browser
}

const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.woff2': 'font/woff2',
}

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
