// A household of a few lines that speaks the protocol of worlds: a request a line, an answer a line. It plays the files in
// games/, which are our own. The real games need Python: docs/benchmarks.md
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const APPLIANCES = { microwave: ['heat', 'hot'], fridge: ['cool', 'cool'], sinkbasin: ['clean', 'clean'] };
const kindOf = (name = '') => name.replace(/ \d+$/, '');
const listed = (things) => (things.length === 0 ? 'nothing' : things.map((thing) => `a ${thing}`).join(', '));

function openHouse(path) {
  const { task, places, closed = [], goal } = JSON.parse(readFileSync(path, 'utf8'));
  const intro = `You are in a room. You see ${listed(Object.keys(places))}. Your task is to: ${task}`;
  const shut = new Set(closed);
  const states = new Map();
  let [at, held, lit] = [];
  const look = () => {
    if (at === undefined) return intro;
    return shut.has(at) ? `The ${at} is closed.` : `On the ${at}, you see ${listed(places[at])}.`;
  };
  const goTo = (place) => () => {
    [at, lit] = [place];
    return look();
  };
  const open = () => {
    shut.delete(at);
    return look();
  };
  const take = (thing) => () => {
    places[at] = places[at].filter((one) => one !== thing);
    held = thing;
    return `You pick up the ${thing}.`;
  };
  const put = () => {
    places[at].push(held);
    held = undefined;
    return look();
  };
  const use = (lamp) => () => {
    lit = lamp;
    return `You turn on the ${lamp}.`;
  };
  const change = (state) => () => {
    states.set(held, state);
    return `The ${held} is ${state}.`;
  };
  /** What can be done here, and what it does. */
  const actions = () => {
    const isShut = shut.has(at);
    const here = at === undefined || isShut ? [] : places[at];
    const lamps = here.filter((thing) => thing.includes('lamp'));
    const things = held === undefined ? here.filter((thing) => !lamps.includes(thing)) : [];
    const [verb, state] = (held && APPLIANCES[kindOf(at)]) ?? [];
    return new Map([
      ['look', look],
      ['inventory', () => `You carry ${listed(held ? [held] : [])}.`],
      ...Object.keys(places).map((place) => [`go to ${place}`, goTo(place)]),
      ...things.map((thing) => [`take ${thing} from ${at}`, take(thing)]),
      ...lamps.map((lamp) => [`use ${lamp}`, use(lamp)]),
      ...(isShut ? [[`open ${at}`, open]] : []),
      ...(held && at && !isShut ? [[`move ${held} to ${at}`, put]] : []),
      ...(verb ? [[`${verb} ${held} with ${at}`, change(state)]] : []),
    ]);
  };
  const isWon = () => {
    const { object, place, count = 1, state, lamp } = goal;
    if (lamp) return kindOf(held) === object && kindOf(lit) === lamp;
    const isMeant = (thing) => kindOf(thing) === object && (!state || states.get(thing) === state);
    return Object.entries(places).some(([one, on]) => kindOf(one) === place && on.filter(isMeant).length >= count);
  };
  return { look, actions, isWon };
}

let house;
for await (const line of createInterface({ input: process.stdin })) {
  const { op, game, action } = JSON.parse(line);
  if (op === 'close') break;
  if (op === 'reset') house = openHouse(game);
  const observation = op === 'reset' ? house.look() : (house.actions().get(action)?.() ?? 'Nothing happens.');
  const won = house.isWon();
  console.log(JSON.stringify({ observation, admissible: [...house.actions().keys()], done: won, won }));
}
