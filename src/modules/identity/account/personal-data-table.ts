import { personalData } from './personal-data.ts'

/** Returns the table of docs/data.md. */
export const personalDataTable = (): string =>
  [
    '| Part | Table | Contains | Kept | Why | In the export | After the deletion of the account |',
    '|---|---|---|---|---|---|---|',
    ...personalData.map(({ part, table, contains, kept, why, exported, deletion }) => {
      const columns =
        typeof exported === 'string'
          ? `no: ${exported}`
          : exported.columns.map((name) => `\`${name}\``).join(' ')
      const after = deletion === 'kept' ? 'kept' : (deletion.text ?? 'deleted')
      return `| \`${part}\` | \`${table}\` | ${contains} | ${kept} | ${why} | ${columns} | ${after} |`
    }),
  ].join('\n')
