-- Whether a connected robot drives by itself, for lists and the wall.

alter table robot_presence add column mode text
  constraint robot_presence_mode check (mode in ('manual', 'autonomous', 'assisted'));
