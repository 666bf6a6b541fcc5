import { parseArgs } from 'node:util'
import { ownStage, visitedStage } from './play-stage.ts'
import { playStory } from './play-story.ts'
import { showing } from './play-terminal.ts'
import type { Transcript } from './play-transcript.ts'

const usage = `Plays the main job: a robot connects, an operator takes it, its owner looks on.

  npm run demo                                  with a Wheelhouse of its own
  npm run demo -- --url http://localhost:3000   with one that runs; OWNER and OPERATOR hold their API keys
`

/** `npm run demo`: exit code 0 when every side saw what it should, else 1. */
function main(): Promise<void> {
  return showing(process.env, async (transcript) => {
    const { values } = parseArgs({ options: { url: { type: 'string' }, help: { type: 'boolean' } } })
    if (values.help) return void process.stdout.write(usage)
    await perform(values.url, transcript)
  })
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

await main()
