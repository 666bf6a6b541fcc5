import { type FakeStripe, startStripe } from '../../test/support/stripe/server.ts'
import { startJobClock } from '../../test/support/world/job-clock.ts'
import { createDemoActor } from '../../tools/demo/demo-actor.ts'
import { startLocalEnvironment } from '../../tools/demo/environment.ts'
import { runInTerminal } from '../../tools/demo/terminal.ts'
import type { Transcript } from '../../tools/demo/transcript.ts'
import { clientSavesAMethod, operatorOnboards } from './account-setup.ts'
import { booksAreCompared } from './books-compared.ts'
import { invoiceIsCollected } from './invoice-collected.ts'
import { payoutResponseIsLost } from './payout-response-lost.ts'
import type { Chapter, PaymentScenario } from './scenario.ts'
import { sessionIsCharged } from './session-charged.ts'
import { transferIsReversed } from './transfer-reversed.ts'

// `npm run demo:payments`: the money flows against the stand-in of Stripe, which belongs to the tests.

const chapters: readonly Chapter[] = [
  clientSavesAMethod,
  operatorOnboards,
  sessionIsCharged,
  invoiceIsCollected,
  payoutResponseIsLost,
  transferIsReversed,
  booksAreCompared,
]

async function perform(transcript: Transcript): Promise<void> {
  const startedAtMs = performance.now()
  transcript.print('Starting a Wheelhouse and a stand-in of Stripe for the demo …')
  const stripe = await startStripe()
  try {
    await runChapters(stripe, transcript)
  } finally {
    await stripe[Symbol.asyncDispose]()
  }
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1)
  transcript.print(`\nEvery cent is accounted for. Done in ${seconds} s.`)
}

async function runChapters(stripe: FakeStripe, transcript: Transcript): Promise<void> {
  let aheadMs = 0
  const nowMs = () => Date.now() + aheadMs
  const environment = await startLocalEnvironment(process.env, {
    folder: 'demo-payments',
    settings: stripe.env,
    now: () => new Date(nowMs()),
  })
  // Jobs wait by the clock of the database, which has to pass time with the demo.
  const jobClock = await startJobClock(environment.running.platform.core.databaseUrl, () => new Date(nowMs()))
  try {
    transcript.print(`Running at ${environment.baseUrl}. Times count from the last → or × above them.`)
    const passTime = (ms: number) => {
      aheadMs += ms
    }
    await runMoneyFlows({ transcript, environment, stripe, nowMs, passTime })
  } finally {
    await jobClock.close()
    await environment.close()
  }
}

/** Advances the clock of the demo by a month. */
const LASTS_S = 40 * 86_400

/** Payments accept no API keys: both accounts use session tokens, as after a sign-in. */
async function runMoneyFlows(parts: Omit<PaymentScenario, 'owner' | 'operator'>): Promise<void> {
  const { transcript, environment } = parts
  const user = async (side: 'OWNER' | 'OPERATOR') => {
    const email = `${side.toLowerCase()}@demo.local`
    const key = await environment.running.platform.identity.builtIn!.issueDevToken({
      email,
      expiresInSeconds: LASTS_S,
    })
    return await createDemoActor({ side, baseUrl: environment.baseUrl, key }, transcript)
  }
  const [owner, operator] = [await user('OWNER'), await user('OPERATOR')]
  try {
    for (const run of chapters) await run({ ...parts, owner, operator })
  } finally {
    transcript.mute()
    await operator.close()
    await owner.close()
  }
}

await runInTerminal(process.env, perform)
