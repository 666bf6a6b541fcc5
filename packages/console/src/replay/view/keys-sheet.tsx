import { Kbd, Modal, Table } from '@mantine/core'
import { t } from '../../texts/texts.ts'

const rows: readonly (readonly [keys: readonly string[], text: string])[] = [
  [[t('replay.keys.space')], t('replay.keys.play')],
  [[',', '.'], t('replay.keys.frame')],
  [['←', '→'], t('replay.keys.second')],
  [[t('replay.keys.shiftLeft'), t('replay.keys.shiftRight')], t('replay.keys.tenSeconds')],
  [[t('replay.keys.home'), t('replay.keys.end')], t('replay.keys.ends')],
  [['[', ']'], t('replay.keys.speed')],
  [['+', '−', '0'], t('replay.keys.zoom')],
  [['1', '2', '3'], t('replay.keys.camera')],
  [['B'], t('replay.keys.bookmark')],
  [['C'], t('replay.keys.link')],
  [['L'], t('replay.keys.live')],
  [['?'], t('replay.keys.keys')],
]

/** Lists the keys of a replay. */
export const KeysSheet = ({ opened, onClose }: { opened: boolean; onClose: () => void }) => (
  <Modal opened={opened} onClose={onClose} title={t('replay.tools.keys')}>
    <Table aria-label={t('replay.tools.keys')}>
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
  </Modal>
)
