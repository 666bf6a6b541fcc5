// Hashes sources, to decide whether a build is up to date. Runs before anything is installed: plain JavaScript.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

const NO_SOURCES = new Set(['node_modules', 'dist', 'dist-new', '__pycache__'])

/** Returns the hash of the names and contents of all files below these files and folders of the checkout. */
export function sourceHash(root, sources) {
  const hash = createHash('sha256')
  for (const file of sources.flatMap((source) => filesOf(root, source)).sort()) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0')
  }
  return hash.digest('hex')
}

function filesOf(root, path) {
  if (!statSync(join(root, path)).isDirectory()) return [path]
  return readdirSync(join(root, path), { withFileTypes: true })
    .filter((entry) => !NO_SOURCES.has(entry.name))
    .flatMap((entry) =>
      entry.isDirectory() ? filesOf(root, `${path}/${entry.name}`) : [`${path}/${entry.name}`],
    )
}
