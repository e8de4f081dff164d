import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.*;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.api.common.state.*;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.cep.nfa.NFA;
import org.apache.flink.cep.nfa.NFAState;
import org.apache.flink.cep.nfa.aftermatch.AfterMatchSkipStrategy;
import org.apache.flink.cep.nfa.compiler.NFACompiler;
import org.apache.flink.cep.nfa.sharedbuffer.SharedBuffer;
import org.apache.flink.cep.nfa.sharedbuffer.SharedBufferAccessor;
import org.apache.flink.cep.pattern.Pattern;
import org.apache.flink.cep.pattern.conditions.SimpleCondition;

/** Asks FlinkCEP. A line of input: a pattern as words, a tab, events as value@timestamp. A line of output: its matches. */
public class Ask {
    static final long END = 1000;

    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            String[] parts = in.nextLine().split("\t", -1);
            String answer;
            try {
                answer = ask(parts[0], parts[1]);
            } catch (Throwable error) {
                answer = "ERROR " + error;
            }
            System.out.println(answer.replace('\n', ' '));
        }
        System.out.flush();
        System.exit(0); // the buffers' timers would keep it going
    }

    static String ask(String words, String events) throws Exception {
        Deque<String> rest = new ArrayDeque<>(Arrays.asList(words.split(" ")));
        AfterMatchSkipStrategy skip = skip(rest.poll().split(":"));
        Pattern<String, String> pattern = sequence(rest, skip);
        NFA<String> nfa = NFACompiler.<String>compileFactory(pattern, false).createNFA();
        nfa.open(context(), new Configuration());
        SharedBuffer<String> buffer =
                new SharedBuffer<>(store(), StringSerializer.INSTANCE);
        NFAState state = nfa.createInitialNFAState();
        List<String> found = new ArrayList<>();
        try (SharedBufferAccessor<String> accessor = buffer.getAccessor()) {
            for (String event : events.split(" ")) {
                String[] parts = event.split("@");
                long stamp = Long.parseLong(parts[1]);
                show(found, nfa.advanceTime(accessor, state, stamp, skip).f0);
                show(found, nfa.process(accessor, state, parts[0], stamp, skip, () -> 0));
            }
            show(found, nfa.advanceTime(accessor, state, END, skip).f0);
        }
        return String.join("|", found);
    }

    static void show(List<String> found, Collection<Map<String, List<String>>> matches) {
        for (Map<String, List<String>> match : matches) {
            StringBuilder text = new StringBuilder();
            new TreeMap<>(match).forEach((name, taken) -> text.append(name + "=" + String.join(",", taken) + ";"));
            found.add(text.toString());
        }
    }

    static AfterMatchSkipStrategy skip(String[] said) {
        switch (said[0]) {
            case "skip_to_next": return AfterMatchSkipStrategy.skipToNext();
            case "skip_past_last_event": return AfterMatchSkipStrategy.skipPastLastEvent();
            case "skip_to_first": return AfterMatchSkipStrategy.skipToFirst(said[1]);
            case "skip_to_last": return AfterMatchSkipStrategy.skipToLast(said[1]);
            default: return AfterMatchSkipStrategy.noSkip();
        }
    }

    static Pattern<String, String> sequence(Deque<String> rest, AfterMatchSkipStrategy skip) {
        Pattern<String, String> pattern = null;
        while (!rest.isEmpty()) {
            String word = rest.poll();
            if (word.equals(")")) break;
            String[] said = word.split(":");
            if (said.length > 1 && said[1].equals("(")) pattern = group(pattern, said[0], sequence(rest, null), skip);
            else pattern = apply(pattern, said, skip);
        }
        return pattern;
    }

    static Pattern<String, String> group(
            Pattern<String, String> before, String how, Pattern<String, String> group, AfterMatchSkipStrategy skip) {
        switch (how) {
            case "begin": return skip == null ? Pattern.begin(group) : Pattern.begin(group, skip);
            case "next": return before.next(group);
            case "followed_by": return before.followedBy(group);
            default: return before.followedByAny(group);
        }
    }

    static Pattern<String, String> apply(Pattern<String, String> p, String[] said, AfterMatchSkipStrategy skip) {
        switch (said[0]) {
            case "begin": return skip == null ? Pattern.begin(said[1]) : Pattern.begin(said[1], skip);
            case "next": return p.next(said[1]);
            case "followed_by": return p.followedBy(said[1]);
            case "followed_by_any": return p.followedByAny(said[1]);
            case "not_next": return p.notNext(said[1]);
            case "not_followed_by": return p.notFollowedBy(said[1]);
            case "where": return p.where(letters(said[1]));
            case "until": return p.until(letters(said[1]));
            case "times": return p.times(Integer.parseInt(said[1]), Integer.parseInt(said[2]));
            case "times_or_more": return p.timesOrMore(Integer.parseInt(said[1]));
            case "consecutive": return p.consecutive();
            case "allow_combinations": return p.allowCombinations();
            case "optional": return p.optional();
            case "greedy": return p.greedy();
            case "within": return p.within(Duration.ofMillis(Long.parseLong(said[1])));
            default: throw new IllegalArgumentException(said[0]);
        }
    }

    static SimpleCondition<String> letters(String wanted) {
        return SimpleCondition.of(value -> wanted.indexOf(value.charAt(0)) >= 0);
    }

    /** Conditions want one, though these never ask it anything. */
    static RuntimeContext context() {
        return (RuntimeContext) Proxy.newProxyInstance(
                Ask.class.getClassLoader(), new Class<?>[] {RuntimeContext.class}, (self, method, args) -> null);
    }

    /** State in memory: what the shared buffer asks for. */
    static KeyedStateStore store() {
        return (KeyedStateStore) Proxy.newProxyInstance(Ask.class.getClassLoader(), new Class<?>[] {KeyedStateStore.class},
                (self, method, args) -> {
                    if (method.getName().equals("getMapState")) return state(MapState.class, new HashMap<Object, Object>());
                    if (method.getName().equals("getState")) return state(ValueState.class, new HashMap<Object, Object>());
                    throw new UnsupportedOperationException(method.getName());
                });
    }

    static Object state(Class<?> kind, Map<Object, Object> kept) {
        return Proxy.newProxyInstance(Ask.class.getClassLoader(), new Class<?>[] {kind}, (self, method, args) -> {
            switch (method.getName()) {
                case "get": return kept.get(args[0]);
                case "put": kept.put(args[0], args[1]); return null;
                case "putAll": kept.putAll((Map<?, ?>) args[0]); return null;
                case "remove": kept.remove(args[0]); return null;
                case "contains": return kept.containsKey(args[0]);
                case "entries": return kept.entrySet();
                case "iterator": return kept.entrySet().iterator();
                case "keys": return kept.keySet();
                case "values": return kept.values();
                case "isEmpty": return kept.isEmpty();
                case "value": return kept.get("");
                case "update": kept.put("", args[0]); return null;
                case "clear": kept.clear(); return null;
                default: throw new UnsupportedOperationException(method.getName());
            }
        });
    }
}
