import type { BrowserContext, Page } from 'playwright-core'
import type { Recording } from '../../../packages/console/src/recording/recordings.ts'
import type { ConsoleBrowser, PageOptions } from '../browser/console.ts'
import { readyOperator, readyOwner } from '../browser/ready-users.ts'
import { performAction, start } from '../world/session-fixtures.ts'
import { waitFor } from '../world/wait.ts'
import type { World } from '../world/world.ts'
import type { FileServer } from './file-server.ts'
import { mockRecording, type ReplayMocks, testPart, testRecording } from './replay-mocks.ts'
import {
  createTestMessages,
  type TestMessage,
  type TestRecordingOptions,
  writeTestFile,
} from './test-recording.ts'

/** A recording that a server has, with what the API says about it. */
export interface ServedRecording {
  readonly startMs: number
  readonly messages: readonly TestMessage[]
  readonly mocks: ReplayMocks
}

/** Creates the file of a recording and serves it. */
export async function serveRecording(
  server: FileServer,
  { seconds, ...options }: Omit<TestRecordingOptions, 'startMs'>,
  changes: (startMs: number) => Partial<Recording> = () => ({}),
): Promise<ServedRecording> {
  const startMs = Math.floor(Date.now() / 1_000) * 1_000 - 3_600_000
  const messages = await createTestMessages({ startMs, seconds, ...options })
  const file = await writeTestFile(messages)
  const url = server.add(`/${crypto.randomUUID()}.mcap`, file)
  return {
    startMs,
    messages,
    mocks: {
      recording: { ...testRecording(startMs, seconds), ...changes(startMs) },
      parts: { parts: [testPart(url, file, startMs, [0, seconds])], complete: true, truncated: false },
      bookmarks: [],
      episodes: { running: null, episodes: [] },
      shares: [],
      removed: false,
    },
  }
}

/** Creates an ended session with its owner and its operator. */
export async function createEndedSession(world: World) {
  const [owner, operator] = [await readyOwner(world), await readyOperator(world)]
  const robot = await world.robot(owner, { require_certification: false })
  const link = (await world.connect(robot)).beat()
  const sessionId = await waitFor(() => start(operator, robot.id))
  await performAction(owner, sessionId, 'end')
  await link.close()
  return { owner, operator, sessionId, path: `/dashboard/sessions/${sessionId}/replay` }
}

interface OpenOptions {
  readonly browser: ConsoleBrowser
  readonly baseUrl: string
  /** Undefined for a visitor. */
  readonly user?: { readonly token: string } | undefined
  readonly path: string
  readonly mocks: ReplayMocks
  readonly page?: PageOptions
}

/** Opens a page about a recording with these answers of the API. */
export async function openReplayPage({ browser, baseUrl, user, path, mocks, page: options }: OpenOptions) {
  const { page, context } = await browser.visit(options)
  if (user) await signIn(context, user, baseUrl)
  await mockRecording(page, mocks)
  await page.goto(baseUrl + path)
  return page
}

const signIn = (context: BrowserContext, { token }: { token: string }, url: string) =>
  context.addCookies([{ name: '__session', value: token, url, httpOnly: true }])

/** Returns the position in milliseconds since the start. */
export const positionOf = async (page: Page): Promise<number> =>
  Math.round(1_000 * Number(await page.getByRole('slider').getAttribute('aria-valuenow')))
