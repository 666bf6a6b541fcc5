import { iso } from '../../../core/database/iso.ts'
import type { HubDataset, HubFile } from './hub-files.ts'

// The answers of the Hugging Face Hub that `huggingface_hub` and LeRobot read, with the fields that they require.

const repoId = ({ owner, name }: HubDataset): string => `${owner}/${name}`

/** Returns the description of a version, with the names of its files. */
export const datasetJson = (dataset: HubDataset, files: readonly HubFile[]) => ({
  _id: dataset.id,
  id: repoId(dataset),
  author: dataset.owner,
  sha: dataset.commit,
  createdAt: iso(dataset.createdAt),
  lastModified: iso(dataset.finishedAt),
  private: true,
  gated: false,
  disabled: false,
  downloads: 0,
  likes: 0,
  tags: ['LeRobot'],
  siblings: files.map(({ path, size_bytes, sha256 }) => ({
    rfilename: path,
    size: size_bytes,
    blobId: sha256,
    lfs: { sha256, size: size_bytes, pointerSize: 0 },
  })),
})

/** Returns the branches and tags of a dataset. */
export function refsJson(versions: readonly HubDataset[]) {
  const [newest] = versions
  const ref = (kind: 'heads' | 'tags', name: string, targetCommit: string) => ({
    name,
    ref: `refs/${kind}/${name}`,
    targetCommit,
  })
  return {
    branches: newest ? [ref('heads', 'main', newest.commit)] : [],
    tags: [
      ...(newest ? [ref('tags', 'v3.0', newest.commit)] : []),
      ...versions.map(({ version, commit }) => ref('tags', `v${version}`, commit)),
    ],
    converts: [],
  }
}

/** Returns the files and folders below a folder: all, or only the direct ones. */
export function treeJson(files: readonly HubFile[], folder: string, isRecursive: boolean) {
  const prefix = folder === '' ? '' : `${folder}/`
  const below = files.filter(({ path }) => path.startsWith(prefix))
  const folders = new Set<string>()
  for (const { path } of below) {
    const names = path.slice(prefix.length).split('/').slice(0, -1)
    const depth = isRecursive ? names.length : Math.min(1, names.length)
    for (let length = 1; length <= depth; length++) folders.add(prefix + names.slice(0, length).join('/'))
  }
  const isShown = ({ path }: HubFile) => isRecursive || !path.slice(prefix.length).includes('/')
  return [
    ...[...folders].map((path) => ({ type: 'directory', oid: '', size: 0, path })),
    ...below.filter(isShown).map(({ path, size_bytes: size, sha256 }) => ({
      type: 'file',
      oid: sha256,
      size,
      path,
      lfs: { oid: sha256, size, pointerSize: 0 },
    })),
  ]
}
