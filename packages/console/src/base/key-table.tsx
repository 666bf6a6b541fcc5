import { Kbd, Table } from '@mantine/core'

/** Keys, and what each of them does. */
export type KeyTexts = readonly (readonly [keys: readonly string[], text: string])[]

export const KeyTable = ({ label, rows }: { label: string; rows: KeyTexts }) => (
  <Table aria-label={label}>
    <Table.Tbody>
      {rows.map(([keys, text]) => (
        <Table.Tr key={text}>
          <Table.Td>
            {keys.map((key) => (
              <Kbd key={key} mr={4}>
                {key}
              </Kbd>
            ))}
          </Table.Td>
          <Table.Td>{text}</Table.Td>
        </Table.Tr>
      ))}
    </Table.Tbody>
  </Table>
)
