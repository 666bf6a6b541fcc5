import { createPerson } from '../../tools/demo/play-person.ts'
import { ownStage } from '../../tools/demo/play-stage.ts'
import { showing } from '../../tools/demo/play-terminal.ts'
import type { Transcript } from '../../tools/demo/play-transcript.ts'
import { type StripeStandIn, startStripe } from '../support/stripe/server.ts'
import { clientSavesAMethod, operatorOnboards } from './accounts-set-up.ts'
import { booksAreCompared } from './books-compared.ts'
import { invoiceIsCollected } from './invoice-collected.ts'
import { payoutAnswerIsLost } from './payout-answer-lost.ts'
import type { Chapter, Scene } from './scene.ts'
import { sessionIsCharged } from './session-charged.ts'
import { transferIsReversed } from './transfer-reversed.ts'

// `npm run demo:payments`: the money flows against the stand-in of Stripe, which belongs to the tests; so does this.

const chapters: readonly Chapter[] = [
  clientSavesAMethod,
  operatorOnboards,
  sessionIsCharged,
  invoiceIsCollected,
  payoutAnswerIsLost,
  transferIsReversed,
  booksAreCompared,
]

async function perform(transcript: Transcript): Promise<void> {
  const startedAtMs = performance.now()
  transcript.say('Starting a Wheelhouse and a stand-in of Stripe for the demo …')
  const stripe = await startStripe()
  try {
    await playOn(stripe, transcript)
  } finally {
    await stripe[Symbol.asyncDispose]()
  }
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1)
  transcript.say(`\nEvery cent is where it should be. Done in ${seconds} s.`)
}

async function playOn(stripe: StripeStandIn, transcript: Transcript): Promise<void> {
  let aheadMs = 0
  const nowMs = () => Date.now() + aheadMs
  const stage = await ownStage(process.env, {
    ...{ folder: 'demo-payments', settings: stripe.env },
    now: () => new Date(nowMs()),
  })
  try {
    transcript.say(`Playing at ${stage.baseUrl}. Times count from the last → or × above them.`)
    const passTime = (ms: number) => {
      aheadMs += ms
    }
    await playMoney({ transcript, stage, stripe, nowMs, passTime })
  } finally {
    await stage.close()
  }
}

/** A month passes in the story. */
const LASTS_S = 40 * 86_400

/** Payments take no API keys: both people act with a session token, as from a sign-in. */
async function playMoney(parts: Omit<Scene, 'owner' | 'operator'>): Promise<void> {
  const { transcript, stage } = parts
  const person = async (side: 'OWNER' | 'OPERATOR') => {
    const email = `${side.toLowerCase()}@demo.local`
    const key = await stage.running.platform.builtIn!.issueDevToken({ email, expiresInSeconds: LASTS_S })
    return await createPerson({ side, baseUrl: stage.baseUrl, key }, transcript)
  }
  const [owner, operator] = [await person('OWNER'), await person('OPERATOR')]
  try {
    for (const play of chapters) await play({ ...parts, owner, operator })
  } finally {
    transcript.mute()
    await operator.leave()
    await owner.leave()
  }
}

await showing(process.env, perform)
