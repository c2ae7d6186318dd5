// A child process of the gate bench: takes a cell, gives its sums.
import { type Cell, runCell } from './cell.ts';

process.on('message', (cell: Cell) => process.send!(runCell(cell)));
