import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { createBrowser } from '../network/cookie-client.ts'
import type { World } from '../world/world.ts'
import { type CliUser, createCliUser, startCli } from './terminal.ts'

/** Returns the path of a user's stored sign-ins. */
export const pathOf = (user: CliUser) => join(user.configHome, 'wheelhouse', 'credentials.json')
export const stored = async (user: CliUser) => JSON.parse(await readFile(pathOf(user), 'utf8'))
export const store = (user: CliUser, file: unknown) => writeFile(pathOf(user), JSON.stringify(file))

/** Changes the stored credential of a browser sign-in. */
export async function corrupt(user: CliUser, change: Record<string, string>): Promise<void> {
  const file = await stored(user)
  Object.assign(file.profiles.default.credential, change)
  await store(user, file)
}

/** Returns the value of a hidden field on a page. */
const field = (page: { text: string }, name: string) =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(page.text)?.[1] ?? ''

/** Starts a sign-in and opens the page at the printed address. */
export async function startSignIn(world: World, user: CliUser) {
  const program = startCli(user, ['login', world.baseUrl, '--json'])
  const sent = await program.expectText(/code: \S+/, 'stderr')
  const [, address = '', code = ''] = /(http\S+)[\s\S]*code: (\S+)/.exec(sent) ?? []
  const browser = createBrowser(world.baseUrl)
  // Submits the code of the address, like the script of the page.
  const arrival = await browser.go(address)
  const device = { ...arrival, url: `${world.baseUrl}/idp/device` }
  const confirmation = await browser.submit(device, { xsrf: field(arrival, 'xsrf'), user_code: code })
  const answer = (choice: Record<string, string>) =>
    browser.submit(device, { xsrf: field(confirmation, 'xsrf'), user_code: code, ...choice })
  return { program, browser, confirmation, code, answer }
}

/** Signs in a new user through the provider's pages. */
export async function signedInBrowser(world: World, email: string) {
  const user = await createCliUser()
  const { program, browser, answer } = await startSignIn(world, user)
  const done = await browser.submit(await answer({ confirm: 'yes' }), { email })
  expect(done.text).toContain('is signed in')
  const ended = await program.ended
  expect(ended.code, ended.stderr).toBe(0)
  return { user, ended }
}
