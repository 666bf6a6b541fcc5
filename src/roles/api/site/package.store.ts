import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PACKAGES_FOLDER = fileURLToPath(new URL('../../../../dist/packages', import.meta.url))
/** The packages, and the names of their files with the version. */
const FILES = {
  cli: /^wheelhouse-cli-(\d+\.\d+\.\d+[\w.-]*)\.tgz$/,
  sdk: /^wheelhouse-sdk-(\d+\.\d+\.\d+[\w.-]*)\.tgz$/,
  protocol: /^wheelhouse-protocol-(\d+\.\d+\.\d+[\w.-]*)\.tgz$/,
  python: /^wheelhouse-(\d+\.\d+\.\d+[\w.]*)-py3-none-any\.whl$/,
} as const
/**
 * Far above the size of the packages. A larger file is not a package of this platform and is not read into memory.
 */
const MAX_BYTES = 8 * 1024 * 1024

export type PackageName = keyof typeof FILES

/** One tarball or wheel that the platform serves. */
export interface PackageFile {
  readonly packageName: PackageName
  readonly version: string
  readonly file: string
  readonly bytes: Buffer
  /** The hash in the format of npm lockfiles (Subresource Integrity). */
  readonly integrity: string
  /** SHA-256 in hexadecimal digits, the format of package indexes of Python. */
  readonly sha256: string
}

interface FoundPackage {
  readonly packageName: PackageName
  readonly version: string
  readonly file: string
  readonly stamp: string
}

/** Creates a cache of the packed packages in a folder, with their hashes. It reloads files that change. */
export function createPackageStore(folder: string = PACKAGES_FOLDER) {
  let cached: { readonly stamp: string; readonly files: readonly PackageFile[] } | undefined
  let reading: Promise<readonly PackageFile[]> | undefined

  async function refresh(): Promise<readonly PackageFile[]> {
    try {
      const found = await findPackages(folder)
      const stamp = found.map((foundPackage) => foundPackage.stamp).join()
      if (cached?.stamp !== stamp)
        cached = { stamp, files: await Promise.all(found.map((foundPackage) => load(folder, foundPackage))) }
      return cached.files
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause
      return [] // not packed yet, or being replaced
    }
  }

  return {
    /** Returns the packages, the command line first; an empty list when none is packed. */
    list: (): Promise<readonly PackageFile[]> => {
      reading ??= refresh().finally(() => {
        reading = undefined
      })
      return reading
    },
  }
}

async function findPackages(folder: string): Promise<readonly FoundPackage[]> {
  const names = await readdir(folder)
  const found = await Promise.all(
    (Object.keys(FILES) as PackageName[]).map(async (packageName) => {
      const pattern = FILES[packageName]
      const file = names.find((name) => pattern.test(name))
      const version = file && pattern.exec(file)?.[1]
      if (!file || !version) return []
      const { size, mtimeMs } = await stat(join(folder, file))
      if (size > MAX_BYTES) throw new Error(`${join(folder, file)} has more than ${MAX_BYTES} bytes`)
      return [{ packageName, version, file, stamp: `${file} ${size} ${mtimeMs}` }]
    }),
  )
  return found.flat()
}

async function load(folder: string, { packageName, version, file }: FoundPackage): Promise<PackageFile> {
  const bytes = await readFile(join(folder, file))
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { packageName, version, file, bytes, integrity, sha256 }
}
