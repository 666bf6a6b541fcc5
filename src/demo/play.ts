import { parseArgs } from 'node:util'
import { ownStage, visitedStage } from './play-stage.ts'
import { playStory } from './play-story.ts'
import { createTranscript, type Transcript } from './play-transcript.ts'

const PATIENCE_MS = 10_000
const usage = `Plays the main job: a robot connects, an operator takes it, its owner looks on.

  npm run demo                                  with a Wheelhouse of its own
  npm run demo -- --url http://localhost:3000   with one that runs; OWNER and OPERATOR hold their API keys
`

/** `npm run demo`: exit code 0 when every side saw what it should, else 1. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { url: { type: 'string' }, help: { type: 'boolean' } } })
  if (values.help) return void process.stdout.write(usage)
  const interruption = new AbortController()
  const interrupt = (why: string) => interruption.abort(new Error(why))
  // Once: a second one ends the process at once.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(name, () => interrupt(`It got ${name}.`))
  process.stdout.on('error', () => interrupt('Nobody reads its output.'))
  const terminal = process.stdout.isTTY === true
  const transcript = createTranscript({
    write: (text) => process.stdout.write(text),
    coloured: terminal && !process.env.NO_COLOR,
    paced: terminal,
    patienceMs: PATIENCE_MS,
    signal: interruption.signal,
  })
  try {
    await perform(values.url, transcript)
  } catch (caught) {
    const cause: unknown = interruption.signal.aborted ? interruption.signal.reason : caught
    const step = transcript.stepNumber
    if (step === 0) throw cause
    throw new Error(`In step ${step}: ${messageOf(cause)}`, { cause })
  }
}

async function perform(url: string | undefined, transcript: Transcript): Promise<void> {
  const startedAtMs = performance.now()
  if (!url) transcript.say('Starting a Wheelhouse for the demo …')
  const stage = url ? visitedStage(url, process.env) : await ownStage(process.env)
  transcript.say(`Playing at ${stage.baseUrl}. Times count from the last → or × above them.`)
  try {
    await playStory(stage, transcript)
  } finally {
    await stage.close()
  }
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1)
  transcript.say(`\nEvery side saw what it should. Done in ${seconds} s.`)
}

const messageOf = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause))

main().catch((cause: unknown) => {
  process.stdout.write(`\n✗ The demo failed. ${messageOf(cause)}\n`)
  if (process.env.LOG_LEVEL === 'debug') console.error(cause)
  process.exitCode = 1
})
