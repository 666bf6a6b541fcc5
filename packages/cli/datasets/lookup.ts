import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { findUnique, isFullId } from '../ids.ts'

/** Returns the ids of datasets, from their ids, prefixes of the ids, or the names of their robots. */
export async function datasetIds(cli: Context, idsOrNames: readonly string[]): Promise<string[]> {
  if (idsOrNames.every(isFullId)) return idsOrNames.map((id) => id.toLowerCase())
  const { datasets } = await answerOf(cli.rest.GET('/api/client/datasets'))
  const candidates = datasets.map(({ id, robot_name: name }) => ({ id, name }))
  return idsOrNames.map((idOrName) => findUnique(candidates, idOrName, 'dataset', 'datasets list').id)
}

/** Returns the id of an exported dataset, from its id, a prefix of the id, or its name for the newest version. */
export async function exportId(cli: Context, idOrName: string): Promise<string> {
  if (isFullId(idOrName)) return idOrName.toLowerCase()
  const { exports: found } = await answerOf(cli.rest.GET('/api/client/datasets/exports'))
  const isNewest = ({ name, version }: Schemas['DatasetExport']) =>
    !found.some((other) => other.name === name && other.version > version)
  const candidates = found.map((each) => ({ id: each.id, ...(isNewest(each) && { name: each.name }) }))
  return findUnique(candidates, idOrName, 'export', 'datasets exports').id
}
