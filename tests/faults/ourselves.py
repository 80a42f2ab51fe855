"""Faults 61 to 72: what the program around a call, its machine and its own files can do
to it.
"""

from __future__ import annotations

from tests.faults.model import Fault

_HERE = "tests/faults"
_CACHE, _FILE = (
    "tests/core/layers/test_cache.py",
    "tests/core/layers/test_cache_file.py",
)

FAULTS = (
    Fault(
        number=61,
        name="one event loop after another",
        injected="`asyncio.run` again and again, in one thread and in eight at a time",
        promise="works; each loop has its own connections, which end with it",
        proven_by=(
            "tests/core/net/test_sender.py::test_one_sender_serves_loops_one_after_another_at_once_and_threads",
            "tests/core/net/test_sender.py::test_a_loop_that_ends_takes_its_connections_with_it",
            "tests/core/client/test_client.py::test_requests_sent_are_calls_made_across_loops_and_threads",
        ),
    ),
    Fault(
        number=62,
        name="a blocking call inside a running loop",
        injected="`search` and `read` in a coroutine, beside the same call with `await`",
        promise="works; blocking calls use no loop",
        proven_by=(
            f"{_HERE}/test_programs.py::test_a_blocking_call_works_inside_a_running_loop",
            "tests/core/layers/test_single_flight.py::test_a_blocking_call_inside_a_loop_does_not_wait_for_the_loop",
        ),
    ),
    Fault(
        number=63,
        name="64 threads share one `WebSearch`",
        injected="64 threads with four different searches each",
        promise="each gets its own answer, over at most 100 connections",
        proven_by=(
            f"{_HERE}/test_programs.py::test_threads_share_connections_and_never_answers",
        ),
    ),
    Fault(
        number=64,
        name="a fork after use",
        injected="`os.fork` while a connection is kept and a request of another thread is under way",
        promise="the child opens its own connections and files; the parent's go on",
        proven_by=(
            f"{_HERE}/test_programs.py::test_a_forked_child_has_connections_of_its_own",
            "tests/core/runtime/test_sqlite.py::test_forks_in_the_middle_of_writing_lose_nothing",
            "tests/core/layers/test_single_flight.py::test_a_forked_child_does_not_wait_for_its_parent",
            "tests/core/net/test_lookup.py::test_a_forked_process_looks_up_again",
            "tests/core/reading/isolation/test_pool.py::test_a_forked_process_has_processes_of_its_own",
        ),
    ),
    Fault(
        number=65,
        name="sent to another process by pickle",
        injected="a round trip after use",
        promise="no socket, lock or key in the pickle; it works there",
        proven_by=(
            "tests/core/client/test_client.py::test_a_copy_takes_no_connection_and_no_client_along",
            "tests/core/client/test_client.py::test_it_can_be_copied_and_pickled",
            "tests/core/keys/test_keys.py::test_a_pickle_holds_no_key_and_says_so_when_it_is_used",
        ),
    ),
    Fault(
        number=66,
        name="a cache file that is locked, damaged, full, read-only or newer",
        injected="each of them",
        promise="no call fails; logged once; what is damaged is moved aside, what is not ours left alone",
        proven_by=(
            f"{_FILE}::test_a_file_that_another_process_locks_is_not_waited_for_long",
            f"{_FILE}::test_a_damaged_cache_is_moved_aside_or_survives",
            f"{_FILE}::test_a_full_disk_fails_no_call_and_leaves_the_file_whole",
            f"{_FILE}::test_a_read_only_file_fails_no_call",
            f"{_FILE}::test_a_database_of_somebody_else_and_a_newer_cache_are_left_alone",
            f"{_CACHE}::test_a_broken_backend_fails_no_call_and_is_logged_once",
        ),
    ),
    Fault(
        number=67,
        name="a Redis that is down, slow or holds something else",
        injected="a port that refuses, one that never answers, a wrong type under the key",
        promise="no call fails; after 0.25 s it is left alone for 10 s",
        proven_by=(
            f"{_HERE}/test_programs.py::test_a_redis_that_does_not_answer_costs_a_quarter_of_a_second_once",
            f"{_CACHE}::test_a_backend_that_failed_is_left_alone_for_a_while",
        ),
    ),
    Fault(
        number=68,
        name="a poisoned entry in the cache",
        injected="garbage, other kinds of entries, entries from the future; any bytes",
        promise="as good as none; JSON with a schema, never pickle",
        proven_by=(
            f"{_CACHE}::test_a_poisoned_entry_is_as_good_as_none",
            f"{_CACHE}::test_an_entry_of_another_kind_or_from_the_future_is_as_good_as_none",
            f"{_CACHE}::test_any_bytes_are_an_entry_or_none",
        ),
    ),
    Fault(
        number=69,
        name="a key that leaks",
        injected="a service that repeats the key in every way; a run with cache, budget, events and logs at DEBUG",
        promise="the key is in no file, log, event, error, `repr`, pickle, result or cassette",
        proven_by=(
            f"{_HERE}/test_artefacts.py::test_no_artefact_of_a_run_holds_the_key",
            "tests/cassettes/test_cassettes.py::test_a_cassette_contains_no_key_and_only_the_headers_we_read",
        ),
    ),
    Fault(
        number=70,
        name="two tenants in one process",
        injected="two keys, two tenants, one cache; two conversations",
        promise="neither gets what is the other's",
        proven_by=(
            f"{_CACHE}::test_tenants_do_not_see_each_other",
            f"{_CACHE}::test_other_options_and_keys_of_the_provider_have_answers_of_their_own",
            "tests/core/provenance/test_provenance.py::test_tenants_with_the_same_thread_are_kept_apart",
        ),
    ),
    Fault(
        number=71,
        name="the tools of users' tests",
        injected="pytest-socket, a mock transport of httpx, vcrpy",
        promise="they see our requests; a blocked socket is raised as it is, and not tried again",
        proven_by=(
            f"{_HERE}/test_blocked_sockets.py::test_a_socket_that_a_test_blocks_is_raised_as_it_is",
            "tests/core/net/test_sender.py::test_a_client_of_the_callers_own_is_used_for_services_and_never_for_pages",
            "tests/cassettes/test_cassettes.py::test_a_recorded_exchange_gives_the_expected_result_in_both_modes",
        ),
    ),
    Fault(
        number=72,
        name="the program ends without closing",
        injected="`python -X dev`: after use, with a call in a daemon thread, with a loop that was left",
        promise="ends within a second; no warning",
        proven_by=(
            f"{_HERE}/test_programs.py::test_a_program_ends_at_once_and_without_warnings",
        ),
    ),
)
