import { answerOf, type RobotLogLevel, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { robotId } from '../ids.ts'
import { type Style, styled } from '../text.ts'
import { formatTime } from '../views.ts'

const PAGE = 200
const STYLES: Readonly<Record<RobotLogLevel, Style>> = {
  debug: 'dim',
  info: 'reset',
  warn: 'yellow',
  error: 'red',
}

interface Options {
  readonly level: RobotLogLevel
  readonly limit: number
}

/** Prints the newest lines of a robot's log, oldest first. */
export async function run(cli: Context, idOrName: string, { level, limit }: Options): Promise<void> {
  const id = await robotId(cli, idOrName)
  const lines: Schemas['RobotLogLine'][] = []
  for (let before: number | undefined; lines.length < limit; before = lines.at(-1)?.seq) {
    const size = Math.min(PAGE, limit - lines.length)
    const query = { level, limit: size, ...(before !== undefined && { before }) }
    const params = { path: { id }, query }
    const { logs } = await answerOf(cli.rest.GET('/api/client/robots/{id}/logs', { params }))
    lines.push(...logs)
    if (logs.length < size) break
  }
  if (lines.length === 0 && !cli.out.json) cli.out.note('No recent log lines of that level.')
  for (const line of lines.reverse()) {
    if (cli.out.json) cli.out.entry(line)
    else
      cli.out.line(
        styled('dim', `${formatTime(line.at)}  `),
        styled(STYLES[line.level], line.level.padEnd(5)),
        `  ${line.message}`,
      )
  }
}
