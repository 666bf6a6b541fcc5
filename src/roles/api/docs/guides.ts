import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'

const ROOT = new URL('../../../../', import.meta.url)
const REST = 'More'
const DECISIONS = 'Decisions'

/** A document of this repository as a page. */
export interface Guide {
  /** The path in the repository. */
  readonly file: string
  /** The path of the page. */
  readonly address: string
  readonly title: string
  readonly section: string
}

/** The documents by section, in reading order. Other documents follow under "More" and "Decisions". */
const sections: Readonly<Record<string, readonly string[]>> = {
  Start: ['README.md', 'docs/demo.md', 'docs/console.md', 'docs/glossary.md'],
  Connect: [
    'docs/robots.md',
    'docs/protocol.md',
    'docs/protocol-robot.md',
    'docs/protocol-operator.md',
    'docs/protocol-hub.md',
    'docs/protocol-schemas.md',
    'docs/protocol-data-channel.md',
    'docs/ros.md',
    'docs/video.md',
    'docs/conformance.md',
    'packages/sdk/README.md',
    'packages/python/README.md',
    'examples/python/README.md',
    'examples/browser/README.md',
    'packages/protocol/README.md',
  ],
  Integrate: [
    'docs/specification.md',
    'docs/permissions.md',
    'docs/errors.md',
    'docs/recordings.md',
    'docs/foxglove.md',
    'docs/webhooks.md',
    'docs/sign-in.md',
    'docs/mcp.md',
    'docs/cli.md',
    'packages/cli/README.md',
  ],
  Operate: [
    'docs/deploy.md',
    'docs/operations.md',
    'docs/configuration.md',
    'docs/monitoring.md',
    'docs/deliveries.md',
    'docs/payments.md',
    'docs/chaos.md',
    'docs/benchmarks.md',
  ],
  Contribute: [
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'docs/testing.md',
    'docs/limits.md',
    'docs/install-size.md',
    'SECURITY.md',
    'CHANGELOG.md',
  ],
}

/** Returns all existing documents. An installation may not contain all of them. */
export function findGuides(): Guide[] {
  const listed = Object.entries(sections).flatMap(([section, files]) =>
    files.map((file) => ({ file, section })),
  )
  const known = new Set(listed.map(({ file }) => file))
  const others = markdownIn('docs')
    .filter((file) => !known.has(file))
    .map((file) => ({ file, section: REST }))
  const decisions = markdownIn('docs/decisions')
    .toReversed()
    .map((file) => ({ file, section: DECISIONS }))
  return [...listed, ...others, ...decisions]
    .filter(({ file }) => existsSync(new URL(file, ROOT)))
    .map(({ file, section }) => ({
      file,
      section,
      address: addressOf(file),
      title: titleOf(readRepositoryFile(file)),
    }))
}

/** Returns the names of the pictures of the documents, below `docs`. */
export const findPictures = (): string[] =>
  ['docs', 'docs/images'].flatMap((folder) =>
    filesIn(folder, /\.(png|svg)$/).map((file) => posix.relative('docs', file)),
  )

export const readRepositoryFile = (file: string): string => readFileSync(new URL(file, ROOT), 'utf8')
export const readPicture = (name: string): Buffer => readFileSync(new URL(`docs/${name}`, ROOT))

const markdownIn = (folder: string) => filesIn(folder, /\.md$/)

function filesIn(folder: string, pattern: RegExp): string[] {
  if (!existsSync(new URL(folder, ROOT))) return []
  const names = readdirSync(new URL(folder, ROOT)).filter((name) => pattern.test(name))
  return names.sort().map((name) => posix.join(folder, name))
}

const addressOf = (file: string) =>
  `/docs/${file
    .replace(/^docs\//, '')
    .replace(/(\/README)?\.md$/, '')
    .toLowerCase()}`

/** Returns the first heading, without marks. */
const titleOf = (text: string) => (/^# (.+)$/m.exec(text)?.[1] ?? 'Untitled').replaceAll('`', '')
