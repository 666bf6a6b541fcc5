import { spawn } from 'node:child_process'

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  // Without a shell, which would interpret the address.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Opens an http address in the browser. Ignores a missing browser, because the address is also printed. */
export async function openBrowser(address: string): Promise<void> {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open']
  const child = spawn(program, [...args, new URL(address).href], { stdio: 'ignore', detached: true })
  child.on('error', () => {})
  child.unref()
}
